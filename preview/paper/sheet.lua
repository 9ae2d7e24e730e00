-- The formula sheet: no words before its first section, no links, and a formula beside its words.

local function formula_of(para)
  local last = para.content[#para.content]
  return last and last.t == "Span" and last.classes:includes("equation-body") and last
end

local function entry(para)
  local formula = formula_of(para)
  if not formula then return nil end
  para.content:remove()
  return {
    pandoc.RawBlock("typst", "#entry["), pandoc.Plain(para.content),
    pandoc.RawBlock("typst", "]["), pandoc.Plain(formula.content), pandoc.RawBlock("typst", "]"),
  }
end

-- "Chapter 9" without its link, on one line.
local function words(link)
  return link.content:walk { Space = function() return pandoc.Str("\u{a0}") end }
end

function Pandoc(doc)
  local blocks = pandoc.Blocks { doc.blocks[1] }
  local begun = false
  for i = 2, #doc.blocks do
    begun = begun or doc.blocks[i].t == "Header"
    if begun then blocks:insert(doc.blocks[i]) end
  end
  doc.blocks = blocks
  return doc:walk { Link = words }:walk { Para = entry }
end
