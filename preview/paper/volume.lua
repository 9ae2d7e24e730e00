-- The whole book, once its chapters stand one behind the other: references get their numbers,
-- links between pages their places, and hints and solutions move to appendices of their own.

local KINDS = { eq = "Equation", fig = "Figure", tbl = "Table" }
local MOVED = { hint = "Hints", solution = "Solutions" }

local function fail(what)
  error("\n@@ on paper: " .. what .. " @@", 0)
end

-- Labels ------------------------------------------------------------------------------

local function labels(doc)
  local numbers, pages, ids = {}, {}, {}
  local function note(el)
    local id = el.identifier
    if id == "" then return end
    if ids[id] then fail("'" .. id .. "' names two places") end
    ids[id] = true
    numbers[id] = el.attributes["data-number"] or el.attributes.number
    if el.attributes.page then pages[el.attributes.page] = id end
  end
  doc:walk { Header = note, Figure = note, Span = note, Div = note }
  return numbers, pages, ids
end

local function kind(id, number)
  return KINDS[id:match("^%l+")] or number:match("%.") and "Section"
    or number:match("%d") and "Chapter" or "Appendix"
end

local function resolved(doc)
  local numbers, pages, ids = labels(doc)
  return doc:walk { Link = function(link)
    local id = link.target:match("^#(.*)$")
    if not id then return nil end
    if id:match("^page%-") then id = pages[id:sub(6)] or id end
    if link.classes:includes("xref") then
      local number = numbers[id]
      if not number then fail("@" .. id .. " points at nothing that has a number") end
      local bare = link.classes:includes("bare")
      link.content = bare and number or kind(id, number) .. "\u{a0}" .. number
    elseif not ids[id] and not id:match("^ref%-") then
      fail("a link points at nothing: #" .. id)
    end
    link.target, link.attributes = "#" .. id, {}
    return link
  end }
end

-- Appendices --------------------------------------------------------------------------

-- What is moved keeps a line where it stood, which points at its new place, and that points back.
-- Hints of one exercise that follow each other share one line.
local function moved(doc)
  local appendices = { hint = pandoc.Blocks {}, solution = pandoc.Blocks {} }
  local chapter, section, last = nil, nil, {}

  local function heading(class)
    local appendix, state = appendices[class], last[class] or {}
    if state.section == section then return nil end
    if state.chapter ~= chapter then
      appendix:insert(pandoc.Header(2, chapter.content, pandoc.Attr("", {}, { toc = "no" })))
    end
    local id = class .. "-" .. section.identifier
    local back = pandoc.Link("back to the text", "#" .. section.identifier, "", { class = "there" })
    local words = pandoc.Inlines(section.content)
    words:extend { pandoc.Space(), back }
    appendix:insert(pandoc.Header(3, words, pandoc.Attr(id, {}, { toc = "no" })))
    last[class] = { chapter = chapter, section = section }
    return id
  end

  local function move(div)
    local class = div.classes[1]
    if not MOVED[class] then return nil end
    local id, title = heading(class), pandoc.utils.stringify(div.content[1])
    if title == "Solution" then div.content:remove(1) end
    appendices[class]:extend(div.content)
    if not id then return {}, false end
    local name = class == "hint" and "Hints" or title
    local link = pandoc.Link(name, "#" .. id, "", { class = "there" })
    return pandoc.Div(pandoc.Plain(link), { class = "pointer" }), false
  end

  doc = doc:walk { traverse = "topdown", Div = move, Header = function(header)
    if header.level == 1 then chapter = header end
    section = header
  end }
  return doc, appendices
end

function Pandoc(doc)
  local appendices
  doc, appendices = moved(doc)
  local at = #doc.blocks
  for i, block in ipairs(doc.blocks) do
    if block.t == "Header" and block.identifier == "sec-references" then at = i - 1 end
  end
  local letter = pandoc.utils.stringify(doc.meta.last):byte()
  doc.meta.last = nil
  for i, class in ipairs { "hint", "solution" } do
    local blocks = pandoc.Blocks { pandoc.Header(1, MOVED[class],
      pandoc.Attr("appendix-" .. class, {}, { number = string.char(letter + i) })) }
    blocks:extend(appendices[class])
    for j, block in ipairs(blocks) do doc.blocks:insert(at + j, block) end
    at = at + #blocks
  end
  return resolved(doc)
end
