-- What an EPUB needs beside pandoc's own: numbers in headings, places that other chapters can
-- point at, and no more attributes than its readers know.

local function number(el)
  local text = el.attributes.number
  return text and { pandoc.Span(text, { class = "number" }), pandoc.Space() } or {}
end

-- A heading is also an entry of the contents, where formulas are not allowed.
local function header(el)
  local content = pandoc.Inlines(number(el))
  content:extend(el.content:walk { Math = function(math)
    return pandoc.utils.blocks_to_inlines(pandoc.read(
      pandoc.write(pandoc.Pandoc { pandoc.Plain(math) }, "plain"), "markdown").blocks)
  end })
  return pandoc.Header(el.level, content, el.identifier)
end

-- Of what is no heading, pandoc finds only boxes and spans from another chapter.
local function figure(el)
  local id, class = el.identifier, el.classes[1]
  el.attr = pandoc.Attr()
  return pandoc.Div(el, { id = id, class = class })
end

local function bare(el)
  el.attributes = {}
  return el
end

return { { Header = header, Figure = figure, Span = bare } }
