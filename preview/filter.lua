-- The few Quarto features the book uses, on pandoc's tree: numbered equations, figures
-- and tables, references to them (filled in once all chapters are known), callouts.

local CALLOUTS = { note = "Note", tip = "Tip", warning = "Warning",
                   important = "Important", caution = "Caution" }
local PLAIN_DIVS = { cell = true, ["cell-output"] = true, ["column-margin"] = true,
                     ["table-scroll"] = true,
                     objectives = true, exercise = true, recap = true, quiz = true,
                     notes = true, columns = true, column = true, fragment = true, ["by-row"] = true } -- of slides
local KINDS = { fig = "Figure", tbl = "Table" } -- what has a caption
local REFERABLE = { eq = true, fig = true, tbl = true, sec = true }
-- pandoc's MathML writer drops these, or fails.
local NO_MATH = { "\\tag", "\\label", "\\color", "\\cancel", "\\require", "\\eqref",
                  "\\begin{align}", "\\begin{align*}", "\\begin{equation}" }

local LONG = 30 -- characters of TeX: an inline formula that a phone may have to scroll

local source, chapter, cell = "", "", nil
local counters = { eq = 0, fig = 0, tbl = 0 }

local function fail(what)
  local where = cell and (source .. ", cell " .. cell) or source
  error("\n@@ " .. where .. ": " .. what .. " @@", 0)
end

local function next_number(kind)
  counters[kind] = counters[kind] + 1
  return (chapter ~= "" and chapter .. "." or "") .. counters[kind]
end

local function kind_of(id)
  return id:match("^(%l+)%-[%l%d%-]+$")
end

-- Equations ---------------------------------------------------------------------------

local function check_math(math)
  for _, macro in ipairs(NO_MATH) do
    if math.text:find(macro, 1, true) then fail(macro .. " is not possible in MathML") end
  end
end

local function equation(math, id)
  if kind_of(id) ~= "eq" then fail("'" .. id .. "' is not a label; write {#eq-name}") end
  local number = next_number("eq")
  local attributes = { id = id, class = "equation", ["data-number"] = number }
  local tag = pandoc.Span("(" .. number .. ")", { class = "equation-number" })
  return pandoc.Span({ pandoc.Span(math, { class = "equation-body" }), tag }, attributes)
end

local function equations(inlines)
  local out, i = pandoc.Inlines {}, 1
  while i <= #inlines do
    local item = inlines[i]
    if item.t == "Math" and item.mathtype == "DisplayMath" then
      local at = (inlines[i + 1] and inlines[i + 1].t == "Space") and i + 2 or i + 1
      local label = inlines[at] and inlines[at].t == "Str" and inlines[at].text
      local id, rest = (label or ""):match("^{#([^}]+)}(.*)$")
      if id then
        out:insert(equation(item, id))
        if rest ~= "" then out:insert(pandoc.Str(rest)) end
        i = at
      else
        out:insert(pandoc.Span(item, { class = "equation-body" }))
      end
    elseif item.t == "Math" and #item.text > LONG then
      out:insert(pandoc.Span(item, { class = "long-formula" }))
    else
      out:insert(item)
    end
    i = i + 1
  end
  return out
end

-- References --------------------------------------------------------------------------

local function reference(citation)
  local kind = kind_of(citation.id)
  if not (kind and REFERABLE[kind]) then return nil end
  local bare = citation.mode == "SuppressAuthor" or #citation.prefix > 0
  local link = pandoc.Link("?", "#" .. citation.id, "", {
    class = bare and "xref bare" or "xref", ["data-cell"] = cell or "" })
  local out = pandoc.Inlines(citation.prefix)
  if #citation.prefix > 0 then out:insert(pandoc.Str("\u{a0}")) end
  out:insert(link)
  out:extend(citation.suffix)
  return out
end

local function references(cite)
  local out = pandoc.Inlines {}
  for i, citation in ipairs(cite.citations) do
    local ref = reference(citation)
    if ref then
      if i > 1 then out:extend { pandoc.Str(","), pandoc.Space() } end
      out:extend(ref)
    elseif citation.id:match("^%a%a%a?%a?%-") or #out > 0 then
      fail("'@" .. citation.id .. "' is not a reference this renderer knows")
    end
  end
  if #out > 0 then return out end
end

-- Figures and tables ------------------------------------------------------------------

local function caption_inlines(kind, number, inlines)
  local out = pandoc.Inlines { pandoc.Strong(KINDS[kind] .. "\u{a0}" .. number), pandoc.Space() }
  out:extend(inlines)
  return out
end

local function numbered(id, content, inlines)
  local kind = kind_of(id)
  if not KINDS[kind] then fail("'" .. id .. "' is not a label; write fig-name or tbl-name") end
  local number = next_number(kind)
  local caption = pandoc.Caption { pandoc.Plain(caption_inlines(kind, number, inlines)) }
  return pandoc.Figure(content, caption, { id = id, class = kind, ["data-number"] = number })
end

local function image(img)
  img.attributes.alt = img.attributes["fig-alt"] or img.attributes.alt
  img.attributes["fig-alt"] = nil
  if not img.attributes.alt then fail("image " .. img.src .. " without fig-alt") end
  return img
end

local function figure(fig)
  if fig.identifier == "" or fig.attributes["data-number"] then return nil end
  local caption = fig.caption.long[1]
  return numbered(fig.identifier, fig.content, caption and caption.content or {})
end

local function table_with_label(tbl)
  local last = tbl.caption.long[#tbl.caption.long]
  local words = last and last.content or {}
  local id = tbl.identifier
  if #words > 0 and words[#words].t == "Str" and words[#words].text:match("^{#.*}$") then
    id = words[#words].text:match("^{#(.*)}$")
    words:remove(#words)
  end
  tbl.identifier, tbl.caption = "", pandoc.Caption {}
  tbl.colspecs = tbl.colspecs:map(function(spec) return { spec[1] } end)
  local scroll = pandoc.Div(tbl, { class = "table-scroll" })
  if id == "" then return scroll end
  return numbered(id, { scroll }, words)
end

-- Divs --------------------------------------------------------------------------------

local function callout_title(div, kind)
  if div.attributes.title then
    return pandoc.utils.blocks_to_inlines(pandoc.read(div.attributes.title, "markdown").blocks)
  end
  local first = div.content[1]
  if first and first.t == "Header" then
    div.content:remove(1)
    return first.content
  end
  return pandoc.Inlines(CALLOUTS[kind])
end

local function callout(div, kind)
  if not CALLOUTS[kind] then fail("unknown callout '" .. kind .. "'") end
  local title = callout_title(div, kind)
  if FORMAT == "json" then -- for paper, where nothing folds
    div.content:insert(1, pandoc.Div(pandoc.Plain(title), { class = "callout-title" }))
    div.attributes = {}
    return div
  end
  local collapse = div.attributes.collapse
  local open, close = '<div class="callout callout-' .. kind .. '" role="note">', "</div>"
  local before, after = '<p class="callout-title">', "</p>"
  if collapse then
    open = '<details class="callout callout-' .. kind .. '"'
      .. (collapse == "false" and " open>" or ">")
    before, after, close = '<summary class="callout-title">', "</summary>", "</details>"
  end
  title:insert(1, pandoc.RawInline("html", open .. before))
  title:insert(pandoc.RawInline("html", after))
  local out = pandoc.Blocks { pandoc.Plain(title) }
  out:extend(div.content)
  out:insert(pandoc.RawBlock("html", close))
  return out
end

local function box(div)
  local id = div.identifier
  if id:match("^fig%-") or id:match("^tbl%-") then
    local last = div.content:remove()
    if not (last and last.content) then fail("'" .. id .. "' has no caption") end
    return numbered(id, div.content, last.content)
  end
  if id == "refs" then return nil end
  local class = div.classes[1] or ""
  local kind = class:match("^callout%-(.+)$")
  if kind then return callout(div, kind) end
  if not PLAIN_DIVS[class] then
    fail("unknown box '::: {" .. (class ~= "" and "." .. class or "#" .. id) .. "}'")
  end
  if class == "column-margin" then div.attributes.role = "note" end
  return div
end

-- The rest ----------------------------------------------------------------------------

local function link(el)
  if not el.target:match("^%a+:") then
    el.target = el.target:gsub("%.ipynb$", ".html"):gsub("%.qmd$", ".html")
      :gsub("%.ipynb#", ".html#"):gsub("%.qmd#", ".html#")
    return el
  end
end

local function code(el)
  local class = el.classes[1] or el.text
  if class:match("^{%a+}") then fail("code that is run at render time: " .. class) end
end

local function list(el)
  if el.listAttributes.delimiter == "TwoParens" then
    fail("a paragraph that begins with '(" .. el.start .. ")' becomes a list; reword it")
  end
end

local function span(el)
  if #el.classes > 0 then fail("unknown span '[…]{." .. el.classes[1] .. "}'") end
end

local function word(str)
  if str.text:find("{{<", 1, true) then fail("shortcodes are not supported") end
  if str.text:match("^:::+") then fail("a ':::' that opens or closes nothing") end
  if str.text:match("^{[#.]%a") then fail("'" .. str.text .. "' belongs to nothing") end
end

local function marker(block)
  return block.t == "RawBlock" and block.text:match("^<!%-%-cell (%d+)%-%->$")
end

local function stray_marker(block)
  if marker(block) then fail("a box that is not closed in its cell") end
end

-- Innermost first, so that a caption or a callout holds what has been converted already.
local STEPS = {
  { RawBlock = stray_marker, Math = check_math, Image = image, Link = link,
    Code = code, CodeBlock = code, Span = span, OrderedList = list },
  { Inlines = equations, Cite = references },
  { Str = word },
  { Figure = figure, Table = table_with_label },
  { Div = box },
}

-- The first paragraph says what a page is about, to those who get a link to it.
local function description(blocks)
  for _, block in ipairs(blocks) do
    if block.t == "Para" then
      local words = block:walk { Cite = function() return {} end }
      local text = pandoc.utils.stringify(words):gsub('"', "'"):gsub("%s+([%s,.;:)])", "%1")
      return #text <= 200 and text or text:sub(1, 200):match("^(.*)%s") .. " …"
    end
  end
end

function Pandoc(doc)
  source = pandoc.utils.stringify(doc.meta.source or "")
  chapter = pandoc.utils.stringify(doc.meta.chapter or "")
  local out = pandoc.Blocks {}
  for _, block in ipairs(doc.blocks) do
    local number = marker(block)
    if number then
      cell = number
    else
      local blocks = pandoc.Blocks { block }
      for _, step in ipairs(STEPS) do blocks = blocks:walk(step) end
      out:extend(blocks)
    end
  end
  doc.meta.description = description(doc.blocks)
  doc.blocks = out
  return doc
end
