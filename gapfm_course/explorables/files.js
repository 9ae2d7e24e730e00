// The reader's own ratings, out of files that never leave the page: MovieLens' layouts, a zip or
// the files in it. The twin of gapfm_teach/datasets, which says the same of the same fault.

import { mulberry32 } from "./engine.js";

const MOST_RATINGS = 1_200_000; // MovieLens 1M, and a little more
const BYTES_A_RATING = 64, TITLE_BYTES = 1 << 24;
const LONGEST_LINE = 10_000; // letters, among which quotes are looked for
const HIGHEST_ID = 2 ** 31 - 1, AT_ONCE = 100_000;
const GRADES = 16; // more than there are: a cell and its grade are one number
const WHOLE = /^[0-9]{1,10}$/, STARS = /^[0-9]+(\.[0-9]*)?$/;
const SORTED_NAME = /(^|\()([^()]+), (The|An|A|Les|Le|La|L'|Das|Der|Die|Det|Il|O)(?= \(|\)|$)/g;

// Columns by place, or by their name in the first line; steps: grades a star, where known.
const LAYOUTS = {
  "u.data": {
    ratings: { separator: "\t", columns: { user: 0, item: 1, grade: 2, time: 3 }, width: 4 }, steps: 1,
    films: "u.item", titles: { separator: "|", columns: { item: 0, title: 1 }, width: 3 },
  },
  "ratings.dat": {
    ratings: { separator: "::", columns: { user: 0, item: 1, grade: 2, time: 3 }, width: 4 },
    films: "movies.dat", titles: { separator: "::", columns: { item: 0, title: 1 }, width: 3 },
  },
  "ratings.csv": {
    ratings: { separator: ",", columns: { user: "userId", item: "movieId", grade: "rating", time: "timestamp" } }, steps: 2,
    films: "movies.csv", titles: { separator: ",", columns: { item: "movieId", title: "title" } },
  },
};
const KINDS = { data: "u.data", dat: "ratings.dat", csv: "ratings.csv" };

// {name, nUsers, nItems, maxGrade, titles, indptr, items, grades} of the files that were dropped,
// users and films in the order of their ids. Throws an Error in words that name file and line.
export async function readRatings(files) {
  const sets = files.map((file) => file.name).filter((name) => isZip(name) || name in LAYOUTS);
  if (sets.length > 1) throw new Error(`${sets.join(" and ")} are ${sets.length} data sets; give one at a time`);
  const zip = files.find((file) => isZip(file.name));
  const held = zip ? await membersOf(zip) : new Map(files.map((file) => [file.name, (most) => plain(file, most)]));
  const found = Object.keys(LAYOUTS).find((name) => held.has(name));
  // A file alone may have another name, such as "ratings (1).csv".
  const name = found ?? (zip ? undefined : [...held.keys()].find((one) => KINDS[one.split(".").pop().toLowerCase()]));
  if (!name) throw new Error(`${(zip ?? files[0]).name} holds none of ${Object.keys(LAYOUTS).join(", ")}; is it the right data set?`);
  const layout = LAYOUTS[found ?? KINDS[name.split(".").pop().toLowerCase()]];
  const table = await ratingLines(decoded(await held.get(name)(BYTES_A_RATING * MOST_RATINGS)), name, layout);
  let titles = null;
  if (held.has(layout.films)) titles = titleLines(decoded(await held.get(layout.films)(TITLE_BYTES)), layout);
  else if (zip) throw new Error(`${zip.name} holds no ${layout.films}; is the archive complete?`);
  return inRows(table, titles, { name, label: zip?.name ?? name, films: layout.films });
}

const isZip = (name) => /\.zip$/i.test(name);

// Lets the page do something else.
const pause = () => new Promise((resolve) => { setTimeout(resolve); });

// ---------------------------------------------------------------- lines

function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes); // the older editions
  }
}

// A text as Python shows it, cut to 80 letters.
function shown(line) {
  const text = [...line.slice(0, 160)].slice(0, 80).join("").replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
  return text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text.replaceAll("'", "\\'")}'`;
}

const badLine = (name, number, line, why) => new Error(
  `${name}, line ${number}: ${shown(line)} ${why}; the file is damaged or not MovieLens: download it again`);

// Fields of a line, of which those between quotes may hold commas; none where a quote is left open, or where it has no end.
function quotedFields(line) {
  const fields = [], pattern = /("(?:[^"]|"")*"|[^,"][^,]*|)(,|$)/y;
  let found;
  if (line.length > LONGEST_LINE) return [];
  do {
    found = pattern.exec(line);
    if (!found) return [];
    fields.push(found[1].startsWith('"') ? found[1].slice(1, -1).replaceAll('""', '"') : found[1]);
  } while (found[2]);
  return fields;
}

const fieldsOf = (line, separator) => (separator === "," ? quotedFields(line) : line.split(separator));

// Where each column stands, how many there are, and whether the first line names them.
function places(name, { separator, columns, width }, first) {
  if (width) return { at: columns, width, header: 0 };
  const names = fieldsOf(first, separator), wanted = Object.values(columns);
  if (wanted.some((column) => names.filter((one) => one === column).length !== 1)) {
    throw new Error(`${name}, line 1: ${shown(first)} does not name the columns ${wanted.join(", ")}, each once; ` +
      "put the line of names back, or get the file again");
  }
  return { at: Object.fromEntries(Object.entries(columns).map(([what, column]) => [what, names.indexOf(column)])), width: names.length, header: 1 };
}

// Columns user, item, grade (a star is `steps` of them) and line, of each rating.
async function ratingLines(text, name, { ratings, steps }) {
  const lines = text.split("\n"), { at, width, header } = places(name, ratings, lines[0].replace(/\r+$/, ""));
  const { separator } = ratings, finest = steps ?? 2;
  const columns = { user: [], item: [], grade: [], line: [] };
  let halves = steps === 2;
  for (let number = header; number < lines.length; number += 1) {
    if (number % AT_ONCE === 0) await pause();
    const line = lines[number].replace(/\r+$/, "");
    if (!line.trim()) continue;
    const fields = line.split(separator), stars = fields[at.grade];
    const good = fields.length === width && isId(fields[at.user]) && isId(fields[at.item]) && WHOLE.test(fields[at.time])
      && STARS.test(stars) && stars * finest >= 1 && stars <= 5 && (stars * finest) % 1 === 0;
    if (!good) {
      const why = `is not ${width} fields with user and item (0 to ${HIGHEST_ID}), stars (${1 / finest} to 5) and seconds since 1970`;
      throw badLine(name, number + 1, line, line.includes('"') ? `${why}, all without quotes` : why);
    }
    halves = halves || stars % 1 !== 0;
    columns.user.push(Number(fields[at.user]));
    columns.item.push(Number(fields[at.item]));
    columns.grade.push(Number(stars));
    columns.line.push(number + 1);
    if (columns.line.length > MOST_RATINGS) {
      throw new Error(`${name} holds more than ${MOST_RATINGS.toLocaleString("en")} ratings, which is all that this page reads; take a smaller data set`);
    }
  }
  await pause();
  if (!columns.line.length) throw new Error(`${name} holds no ratings; get the file again`);
  const grades = halves ? 2 : 1;
  return { ...columns, grade: columns.grade.map((stars) => stars * grades), maxGrade: 5 * grades, textOf: (number) => lines[number - 1].replace(/\r+$/, "") };
}

const isId = (text) => WHOLE.test(text) && text <= HIGHEST_ID;

function titleLines(text, { films, titles: table }) {
  const lines = text.replaceAll("\r\n", "\n").split("\n"), { at, width, header } = places(films, table, lines[0]);
  const titles = new Map();
  for (const [k, line] of lines.entries()) {
    if (k < header || !line.trim()) continue;
    const fields = fieldsOf(line, table.separator);
    const fits = header ? fields.length === width : fields.length >= width;
    if (!(fits && isId(fields[at.item]))) throw badLine(films, k + 1, line, `is not item, title, more: ${width} fields`);
    const item = Number(fields[at.item]);
    if (titles.has(item)) throw badLine(films, k + 1, line, `names film ${item} a second time`);
    titles.set(item, displayed(fields[at.title]));
  }
  return titles;
}

// "Usual Suspects, The (1995)" is "The Usual Suspects (1995)".
const displayed = (title) => title.trim().replace(/\s+/g, " ").replace(SORTED_NAME, "$1$3 $2").replaceAll("L' ", "L'");

// ---------------------------------------------------------------- rows

function inRows({ user, item, grade, line, maxGrade, textOf }, titles, { name, label, films }) {
  const ordered = (ids) => [...new Set(ids)].sort((a, b) => a - b), users = ordered(user), filmIds = ordered(item);
  if (titles) {
    const missing = [...new Set(item)].filter((one) => !titles.has(one));
    if (missing.length) {
      throw new Error(`${name} rates film ${missing[0]}, which ${films} does not have (${missing.length.toLocaleString("en")} such films); ` +
        "are users and films swapped, or is a file cut or of another edition? get both again");
    }
  }
  const placeOf = (ids) => new Map(ids.map((id, place) => [id, place])), ofUser = placeOf(users), ofFilm = placeOf(filmIds);
  const nItems = filmIds.length, cells = Float64Array.from(user, (id, k) => ofUser.get(id) * nItems + ofFilm.get(item[k]));
  const sorted = cells.map((cell, k) => cell * GRADES + grade[k]).sort(), cellAt = (k) => Math.floor(sorted[k] / GRADES);
  if (sorted.some((_, k) => k && cellAt(k) === cellAt(k - 1))) {
    const first = new Map(), again = cells.findIndex((cell, k) => first.has(cell) || !first.set(cell, k));
    throw badLine(name, line[again], textOf(line[again]),
      `is a second rating of film ${item[again]} by user ${user[again]}, the first is line ${line[first.get(cells[again])]}`);
  }
  const indptr = new Int32Array(users.length + 1);
  sorted.forEach((_, k) => { indptr[Math.floor(cellAt(k) / nItems) + 1] += 1; });
  for (let m = 0; m < users.length; m += 1) indptr[m + 1] += indptr[m];
  return {
    name: label, nUsers: users.length, nItems, maxGrade, indptr, users,
    items: Int32Array.from(sorted, (_, k) => cellAt(k) % nItems), grades: Uint8Array.from(sorted, (value) => value % GRADES),
    titles: filmIds.map((id) => titles?.get(id) ?? `film ${id}`),
  };
}

// Given 10: of each user with at least 20 ratings ten at random to train on, and ten others held
// out: {given, held: {indptr, items, grades}, nItems, maxGrade, titles, users: their ids}.
export function splitGiven({ indptr, items, grades, users, ...rest }, nGiven = 10, nHeld = 10, seed = 0) {
  const rng = mulberry32(seed), kept = users.map((_, m) => m).filter((m) => indptr[m + 1] - indptr[m] >= nGiven + nHeld);
  if (!kept.length) {
    const most = users.reduce((high, _, m) => Math.max(high, indptr[m + 1] - indptr[m]), 0);
    throw new Error(`${rest.name} has too few ratings of each user: ${nGiven} are trained on and ${nHeld} others tested on, and the ` +
      `most active user has ${most}; take a larger data set, with users of ${nGiven + nHeld} ratings or more`);
  }
  const part = (n) => ({ indptr: Int32Array.from({ length: kept.length + 1 }, (_, m) => m * n), items: new Int32Array(kept.length * n), grades: new Uint8Array(kept.length * n) });
  const given = part(nGiven), held = part(nHeld);
  kept.forEach((m, place) => {
    const drawn = Array.from({ length: indptr[m + 1] - indptr[m] }, (_, k) => indptr[m] + k);
    for (let k = 0; k < nGiven + nHeld; k += 1) { // the first few of a shuffle
      const other = k + Math.floor(rng() * (drawn.length - k));
      [drawn[k], drawn[other]] = [drawn[other], drawn[k]];
    }
    for (const [one, n, ks] of [[given, nGiven, drawn.slice(0, nGiven)], [held, nHeld, drawn.slice(nGiven, nGiven + nHeld)]]) {
      ks.sort((a, b) => a - b).forEach((k, j) => {
        one.items[place * n + j] = items[k];
        one.grades[place * n + j] = grades[k];
      });
    }
  });
  return { ...rest, given, held, users: kept.map((m) => users[m]) };
}

// ---------------------------------------------------------------- zip archives

const HOW = "pass the archive as downloaded, or the folder it was unpacked into";

// What a zip holds, by bare name, the least nested of several: functions that unpack at most so
// many bytes of it.
async function membersOf(zip) {
  const fault = () => new Error(`path ${shown(zip.name)} is no zip file, or one cut short; ${HOW}`);
  const tail = await viewOf(zip, Math.max(0, zip.size - 65_557), zip.size);
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw fault();
  const directory = await viewOf(zip, tail.getUint32(end + 16, true), tail.getUint32(end + 16, true) + tail.getUint32(end + 12, true));
  const members = [];
  let at = 0;
  for (let k = tail.getUint16(end + 10, true); k > 0; k -= 1) {
    if (at + 46 > directory.byteLength || directory.getUint32(at, true) !== 0x02014b50) throw fault();
    const [method, crc, packed, size] = [directory.getUint16(at + 10, true), ...[16, 20, 24].map((place) => directory.getUint32(at + place, true))];
    const [nName, nExtra, nComment] = [28, 30, 32].map((place) => directory.getUint16(at + place, true));
    const path = decoded(new Uint8Array(directory.buffer, at + 46, nName));
    members.push({ path, method, crc, packed, size, begin: directory.getUint32(at + 42, true) });
    at += 46 + nName + nExtra + nComment;
  }
  const depth = ({ path }) => path.split("/").length;
  members.sort((a, b) => depth(b) - depth(a) || (a.path < b.path ? -1 : 1));
  return new Map(members.map((member) => [member.path.split("/").pop(), (most) => unpacked(zip, member, most)]));
}

function checkSize(label, size, most) {
  const [much, limit] = [size, most].map((bytes) => bytes.toLocaleString("en"));
  if (size > most) throw new Error(`${label} holds ${much} bytes, more than the ${limit} that this page reads; take a smaller data set`);
}

async function plain(file, most) {
  checkSize(file.name, file.size, most);
  return new Uint8Array(await file.arrayBuffer());
}

const viewOf = async (file, begin, end) => new DataView(await file.slice(begin, end).arrayBuffer());

async function unpacked(zip, { path, method, crc, packed, size, begin }, most) {
  const label = `${path.split("/").pop()} in ${zip.name}`;
  const damaged = (why) => new Error(`${label} is damaged (${why}); get the file again`);
  if (method !== 0 && method !== 8) throw damaged(`packed by method ${method}`);
  checkSize(label, size, most);
  const head = await viewOf(zip, begin, begin + 30);
  if (head.byteLength < 30 || head.getUint32(0, true) !== 0x04034b50) throw damaged("Bad magic number for file header");
  const from = begin + 30 + head.getUint16(26, true) + head.getUint16(28, true), body = zip.slice(from, from + packed);
  const stream = method ? body.stream().pipeThrough(new DecompressionStream("deflate-raw")) : body.stream();
  const bytes = new Uint8Array(size), reader = stream.getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((error) => { throw damaged(error.message); });
    if (done) break;
    if (length + value.length > size) { // more than the archive says
      reader.cancel().catch(() => {});
      throw damaged(badSum(path));
    }
    bytes.set(value, length);
    length += value.length;
  }
  if (length < size || checkSum(bytes) !== crc) throw damaged(badSum(path));
  return bytes;
}

const badSum = (path) => `Bad CRC-32 for file '${path}'`;

function checkSum(bytes) {
  const table = Int32Array.from({ length: 256 }, (_, n) => {
    let value = n;
    for (let k = 0; k < 8; k += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
  let sum = -1;
  for (const byte of bytes) sum = (sum >>> 8) ^ table[(sum ^ byte) & 255];
  return ~sum >>> 0;
}
