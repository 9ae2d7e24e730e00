// A page opened as a file can fetch nothing: its search gets the same texts from a script.
if (location.protocol === "file:") {
  const { root } = document.currentScript.dataset;
  const elsewhere = window.fetch;
  window.shownWarning = true; // Quarto's, that it can't search here
  window.fetch = (address, ...options) => {
    if (!String(address).endsWith("search.json")) return elsewhere(address, ...options);
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}search.js`;
      script.onload = () => resolve(new Response(JSON.stringify(window.bookIndex)));
      script.onerror = reject;
      document.head.append(script);
    });
  };
}
