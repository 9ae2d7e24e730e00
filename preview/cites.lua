-- After citeproc: works cited are listed on the book's own page, and linked there.

function Pandoc(doc)
  local list = pandoc.utils.stringify(doc.meta.references)
  return doc:walk {
    Div = function(div)
      if div.identifier == "refs" and list ~= "" then return {} end
    end,
    Link = function(link)
      if link.target:match("^#ref%-") then link.target = list .. link.target end
      return link
    end,
  }
end
