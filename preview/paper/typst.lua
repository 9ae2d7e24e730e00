-- What pandoc's Typst writer does not do by itself: numbers that are fixed already, formulas that
-- look and are read out as they should, and boxes, figures and pictures as book.typ sets them.

local BOXES = { "callout-note", "callout-tip", "callout-warning", "column-margin", "objectives",
                "exercise", "recap", "deeper", "still", "pointer", "callout-title", "fold-title" }
-- A picture of 7.1 inches is nearly as wide as the text; of drawings, of 5.6, so that letters are alike.
local SCALE = 0.74
local DPI = { png = 110, jpg = 110, svg = 92 }

local function quoted(text)
  return '"' .. text:gsub("\\", "\\\\"):gsub('"', '\\"'):gsub("\n", " ") .. '"'
end

local function raw(text) return pandoc.RawInline("typst", text) end

local function label(id) return id ~= "" and " <" .. id .. ">" or "" end

-- Content between `#name(arguments)[` and `]`.
local function around(name, arguments, content, id)
  local list = pandoc.utils.type(content) == "Blocks" and pandoc.RawBlock or pandoc.RawInline
  local out = content:clone()
  out:insert(1, list("typst", "#" .. name .. "(" .. arguments .. ")["))
  out:insert(list("typst", "]" .. label(id or "")))
  return out
end

-- Mathematics -------------------------------------------------------------------------

local TEX = {
  { "\\[bB]igg?l?%s*([%(%[])", "\\left%1" }, { "\\[bB]igg?r?%s*([%)%]])", "\\right%1" },
  { "\\[bB]igg?[lr]?%s*", "" },
  { "\\mathrm{(%u[%a@]+)}", "\\text{%1}" },
  { "\\!", "" }, { "\\;", "\\:" },
  { "\\lvert", "\\left|" }, { "\\rvert", "\\right|" },
  { "\\|", "\\Vert " },
  { "|([^|]+)|", function(inside)
    if not inside:find("left", 1, true) and not inside:find("right", 1, true) then
      return "\\left|" .. inside .. "\\right|"
    end
  end },
}

local function math(el)
  local tex = el.text
  for _, rule in ipairs(TEX) do tex = tex:gsub(rule[1], rule[2]) end
  return { raw("#formula(" .. quoted(el.text) .. ")["), pandoc.Math(el.mathtype, tex), raw("]") }
end

local function equation(span)
  if span.classes:includes("equation-number") then return {} end
  if span.classes:includes("equation") then
    return around("numbered", quoted(span.attributes["data-number"]), span.content, span.identifier)
  end
end

-- Blocks ------------------------------------------------------------------------------

local function header(el)
  local number = el.attributes.number
  local arguments = "level: " .. el.level
  if number then arguments = arguments .. ", numbering: (..) => " .. quoted(number) end
  if el.attributes.toc == "no" then arguments = arguments .. ", outlined: false" end
  local out = around("heading", arguments, el.content, el.identifier)
  return pandoc.Plain(out)
end

local function image(el)
  local scale = SCALE * 72 / DPI[el.src:match("%a+$")]
  return raw(("#picture(%s, %s, %.3f)"):format(quoted(el.src), quoted(el.attributes.alt), scale))
end

-- A table of a few rows stays on one page.
local function is_long(el)
  local rows = 0
  el:walk { Table = function(tbl)
    for _, body in ipairs(tbl.bodies) do rows = rows + #body.body end
  end }
  return rows > 16
end

local function figure(el)
  local caption = pandoc.Blocks(el.caption.long)
  local arguments = quoted(el.classes[1]) .. ", breakable: " .. tostring(is_long(el))
  local out = around("floating", arguments, el.content)
  out:remove()
  out:insert(pandoc.RawBlock("typst", "]["))
  out:extend(caption)
  out:insert(pandoc.RawBlock("typst", "]" .. label(el.identifier)))
  return out
end

-- pandoc sets every table as a figure; here only what has a caption is one.
local function tabular(el)
  local text = pandoc.write(pandoc.Pandoc { el }, "typst")
  local inside = text:match("^#figure%(%s*align%(center%)(%[.*%])%s*, kind: table%s*%)%s*$")
  if not inside then error("a table that pandoc writes in a new way: " .. text:sub(1, 200)) end
  return pandoc.RawBlock("typst", "#fitting" .. inside)
end

local function div(el)
  for _, class in ipairs(BOXES) do
    if el.classes:includes(class) then
      return around("box-" .. class, "", el.content, el.identifier)
    end
  end
  if el.identifier == "refs" then return around("box-references", "", el.content) end
  if el.identifier == "" then return el.content end
end

local function cite(el) return el.content end

local function link(el)
  if el.classes:includes("there") then
    return around("there", "<" .. el.target:sub(2) .. ">", el.content)
  end
end

local STEPS = {
  { Math = math, Image = image, Link = link, Cite = cite },
  { Span = equation },
  { Figure = figure, Header = header },
  { Table = tabular },
  { Div = div },
}

function Pandoc(doc)
  for _, step in ipairs(STEPS) do doc = doc:walk(step) end
  return doc
end
