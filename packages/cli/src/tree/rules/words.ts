/** The words of a goal that are worth a search, and sentences of files that are worth a place in a report. */
import { type Folder, nameOf } from './folder.js';

const COMMON = new Set(
  `a about above after again all also am an and any are as ask at be because been before being below between both but
  by can code could count describe did directory do does doing done down each every everything explain few file files
  find folder for from further get give had has have having help here how i if in into is it its itself just know let
  list look made make makes many me more most much must my need no nor not now of off on once one only or other our out
  over own part parts please project read repository report same see shall she should show so some such summarize
  summary survey tell than that the their them then there these they thing things this those through to too under until
  up upgrade us use used very want was way we were what when where which while who why will with work works would write
  you your`.split(/\s+/),
);
const TERMS_MAX = 4;

/** The words of a text to search for: quoted ones and names first, then uncommon words. */
export function termsOf(text: string): readonly string[] {
  const quoted = [...text.matchAll(/["“`'‘]([^"”`'’\n]{2,60})["”`'’]/g)].map(([, inside = '']) => inside);
  const words = text.match(/[\p{L}_$][\p{L}\p{N}_$-]{2,}/gu) ?? [];
  const names = words.filter((word) => /[a-z][A-Z]|_|\d|^[A-Z]{2,}$/.test(word));
  const uncommon = words.map((word) => word.toLowerCase()).filter((word) => word.length > 2 && !COMMON.has(word));
  const terms = [...quoted, ...names, ...uncommon];
  const known = new Set<string>();
  return terms
    .filter((term) => {
      const key = term.toLowerCase();
      return !known.has(key) && known.add(key);
    })
    .slice(0, TERMS_MAX);
}

/** What looks like the name of a file. */
const FILE_NAME = /[\w@/*.-]*[\w*]\.[a-z]\w{0,6}\b/g;

/**
 * The first sentence in which a file says what it is: its first comment, heading or description. A sentence that names a
 * file which was not seen is left out, so that a report names real files only.
 */
export function sentenceOf(path: string, text: string, folder: Folder): string | undefined {
  for (const candidate of candidates(path, text)) {
    const sentence = candidate
      .replace(/\s+/g, ' ')
      .replace(/[`*_#<>]/g, '')
      .trim();
    const first = (/^.{12,}?[.!?](?=\s|$)/.exec(sentence)?.[0] ?? sentence).slice(0, 200);
    if (first.length >= 12 && namesRealFiles(first, folder)) return first;
  }
  return undefined;
}

function candidates(path: string, text: string): string[] {
  if (nameOf(path) === 'package.json') {
    const description = /"description":\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
    return description === undefined ? [] : [description];
  }
  if (/\.(?:md|txt|rst|adoc)$/i.test(path)) return text.split(/\n\s*\n/).filter((part) => /^[\p{L}"(]/u.test(part));
  const comments = [...text.matchAll(/\/\*\*?([\s\S]*?)\*\/|"""([\s\S]*?)"""|((?:^(?:\/\/|#)(?!!).*\n)+)/gm)];
  return comments.map(([, block, doc, lines]) =>
    (block ?? doc ?? lines ?? '').replace(/^\s*(?:\*|\/\/|#)+ ?/gm, '').replace(/(^|\s)@\w[\s\S]*$/, ''),
  );
}

function namesRealFiles(sentence: string, { files }: Folder): boolean {
  return (sentence.match(FILE_NAME) ?? []).every((name) =>
    files.some(({ path }) => path === name || nameOf(path) === name),
  );
}
