"""What the whole package leans on and no reader of the paper needs: argument checks, whole files."""
