-- One chapter for paper, after the preview's filter. What folds or moves on a page becomes a Div,
-- raw HTML becomes tables, pictures and indices, and headings get their numbers.

local stem, folder, chapter, place = "", "", "", ""
local counters = { 0 }
-- Folds that answer a question of the text: they move to an appendix. All others stay in place.
local MOVED = { ["Solution"] = "solution", ["Answers"] = "solution",
                ["What is wrong"] = "solution", ["Who is who?"] = "solution",
                ["What a right answer gets"] = "solution" }

local function fail(what)
  error("\n@@ " .. stem .. ", on paper: " .. what .. " @@", 0)
end

-- Folds -------------------------------------------------------------------------------

local function fold(class, title, content)
  if class == "code-fold" then return content end
  local kind = MOVED[title] or (title:match("^Hint") and "hint") or "deeper"
  local heading = pandoc.Div(pandoc.Plain(title), { class = "fold-title" })
  return { pandoc.Div({ heading, table.unpack(content) }, { class = kind }) }
end

-- Of a fold that is whole in one block, as an output may be, the table inside is what counts.
local function opened(html)
  if not html:match("^<details") or html:find("</details>", 1, true) then return nil end
  return { class = html:match('class="([%w-]+)') or "", title = html:match("<summary>(.-)</summary>") }
end

-- `<details>`, `<summary>` and their ends are blocks beside the blocks they enclose.
local function folds(blocks)
  local out, outer = pandoc.Blocks {}, {}
  for _, block in ipairs(blocks) do
    local html = block.t == "RawBlock" and block.text or ""
    local fresh = opened(html)
    if fresh then
      fresh.out, out = out, pandoc.Blocks {}
      table.insert(outer, fresh)
    elseif html == "</summary>" then
      outer[#outer].title = pandoc.utils.stringify(out:remove())
    elseif html == "</details>" then
      local done = table.remove(outer)
      local content = fold(done.class, done.title, out)
      out = done.out
      out:extend(content)
    elseif html ~= "<summary>" then
      out:insert(block)
    end
  end
  if #outer > 0 then fail("a fold that is not closed: " .. outer[1].title) end
  return out
end

-- Raw HTML ----------------------------------------------------------------------------

local function decoded(text)
  return pandoc.utils.stringify(pandoc.read("<p>" .. text .. "</p>", "html"))
end

local function still(html)
  local view = html:match('data%-view="([%w_]+)"')
  local alt = html:match('data%-alt="(.-)"') or html:match('<img alt="(.-)"')
  local picture = pandoc.Image({}, "pictures/" .. view .. ".png", "", { alt = decoded(alt) })
  return pandoc.Div({ pandoc.Para(picture), pandoc.Para(pandoc.read(place).blocks[1].content) },
    pandoc.Attr("explore-" .. view, { "still" }))
end

local function raw_block(raw)
  if raw.text:match("^<!%-%-") then return {} end
  if raw.text:find('class="gapfm-explorable"', 1, true) then return still(raw.text) end
  local tbl = raw.text:match("<table.*</table>")
  if not tbl then fail("raw HTML: " .. raw.text:sub(1, 60)) end
  return pandoc.read(tbl, "html").blocks
end

local INDEX = { sub = pandoc.Subscript, sup = pandoc.Superscript }

local function raw_inlines(inlines)
  local out, outer = pandoc.Inlines {}, {}
  for _, item in ipairs(inlines) do
    local html = item.t == "RawInline" and item.text or ""
    local last = outer[#outer]
    if INDEX[html:match("^<(%l+)>$")] then
      table.insert(outer, { tag = html:match("%l+"), out = out })
      out = pandoc.Inlines {}
    elseif last and html == "</" .. last.tag .. ">" then
      local index = INDEX[last.tag](out)
      out = table.remove(outer).out
      out:insert(index)
    elseif html == "" then
      out:insert(item)
    elseif not html:match("^<!%-%-") then
      fail("raw HTML: " .. html)
    end
  end
  return out
end

-- Tables of pandas --------------------------------------------------------------------

local function is_plain(row)
  for _, cell in ipairs(row.cells) do
    if cell.row_span > 1 or cell.col_span > 1 then return false end
  end
  return true
end

-- pandas prints the names of its index in a second row of headings that is empty elsewhere.
local function join_headings(head)
  local upper, lower = head.rows[1], head.rows[2]
  if #head.rows ~= 2 or not (is_plain(upper) and is_plain(lower)) then return end
  for i, cell in ipairs(lower.cells) do
    if #cell.contents > 0 and #upper.cells[i].contents > 0 then return end
  end
  for i, cell in ipairs(lower.cells) do
    if #cell.contents > 0 then upper.cells[i].contents = cell.contents end
  end
  table.remove(head.rows, 2)
end

local function is_number(text)
  return text:gsub("[%d%s.,%+%-−±×%%%[%]%(%)e–]", "") == "" or text:lower() == "nan"
end

-- A column of numbers stands flush right, and words flush left.
local function align(tbl)
  local left = {}
  for _, body in ipairs(tbl.bodies) do
    for _, row in ipairs(body.body) do
      local column = #tbl.colspecs - #row.cells -- cells above that span rows come first
      for _, cell in ipairs(row.cells) do
        column = column + 1
        if not is_number(pandoc.utils.stringify(cell.contents)) then left[column] = true end
      end
    end
  end
  for i in ipairs(tbl.colspecs) do
    tbl.colspecs[i] = { left[i] and "AlignLeft" or "AlignRight" }
  end
  for _, row in ipairs(tbl.head.rows) do
    for _, cell in ipairs(row.cells) do
      if cell.col_span > 1 then cell.alignment = "AlignCenter" end
    end
  end
end

local function dataframe(tbl)
  if not tbl.classes:includes("dataframe") then return nil end
  join_headings(tbl.head)
  align(tbl)
  tbl.attr = pandoc.Attr()
  tbl = tbl:walk {
    Str = function(str) return pandoc.Str((str.text:gsub("^([%[%(]?)%-([%d.])", "%1−%2"))) end,
  }
  return pandoc.Div(tbl, { class = "table-scroll" })
end

-- Names and numbers -------------------------------------------------------------------

local function is_label(id)
  return id:match("^eq%-") or id:match("^fig%-") or id:match("^tbl%-") or id:match("^sec%-")
end

local function named(id)
  return (id == "" or id == "refs" or is_label(id)) and id or stem .. "-" .. id
end

local function link(el)
  local page, anchor = el.target:match("^([%w_/.-]-)%.html#?(.*)$")
  if page and not el.target:match("^%a+:") then
    if page:match("^%.%./slides/") then return el.content end -- a deck is no part of the volume
    page, anchor = page:match("[^/]+$"), anchor:gsub("^(explore%-[%w_]+):.*", "%1")
    el.target = "#" .. (anchor == "" and "page-" .. page
      or is_label(anchor) and anchor or page .. "-" .. anchor)
  elseif el.target:match("^#") then
    el.target = "#" .. named(el.target:sub(2))
  end
  return el
end

local function image(el)
  if not el.src:match("^pictures/") then el.src = folder .. el.src end
  el.caption = {}
  return el
end

-- Chapters count their sections; pages after them have a letter, and those before only use
-- theirs for figures.
local function number(el)
  if el.level == 1 then return chapter:match("^[%d%u]") and chapter end
  if el.classes:includes("unnumbered") or not chapter:match("^%d") then return nil end
  counters[el.level] = (counters[el.level] or 0) + 1
  for deeper = el.level + 1, 6 do counters[deeper] = nil end
  return chapter .. "." .. table.concat(counters, ".", 2, el.level)
end

local function header(el)
  el.attributes.number = number(el) or nil
  if el.level == 1 then el.attributes.page = stem end
  el.classes = {}
  el.identifier = named(el.identifier)
  return el
end

local function div(el)
  el.identifier = named(el.identifier)
  return el
end

function Pandoc(doc)
  local function given(key) return pandoc.utils.stringify(doc.meta[key] or "") end
  stem, folder, chapter, place = given("stem"), given("folder"), given("chapter"), given("place")
  doc.meta = {}
  return doc:walk { Blocks = folds, Inlines = raw_inlines }
    :walk { RawBlock = raw_block }
    :walk { Table = dataframe }
    :walk { Header = header, Div = div, Link = link, Image = image }
end
