/**
 * Whether a pattern is one that the engines of all providers read in the same way: ECMAScript, Python, Rust and RE2
 * share classes, groups without a name, choices and counted repetitions. Look-around, back references, properties of
 * Unicode, names of groups and flags are refused by at least one of them.
 */

/** The longest pattern that is sent, in UTF-16 units. */
const PATTERN_UNITS_MAX = 1_000;

/** The most repetitions: RE2 refuses more. */
const REPEATS_MAX = 1_000;

/** An escape that all engines know: a class, a control character, a code point, a mark that stands for itself. */
const ESCAPE = String.raw`\\(?:[dDwWsSbBtnrfv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^a-zA-Z0-9])`;

/** A class without nested brackets, which some engines read as classes of their own. */
const CLASS = String.raw`\[\^?(?:${ESCAPE}|[^\][\\])+\]`;

/** Marks between two characters of a class that some engines read as an operation on classes. */
const OPERATION = /&&|--|~~|\|\|/;

/** What can be repeated, and what cannot. */
const ATOM = new RegExp(String.raw`^(?:${ESCAPE}|${CLASS}|[^\\()[\]{}|*+?^])`);
const MARK = /^(?:\(\?:|\((?!\?)|[|^])/;
const REPEAT = /^(?:[*+?]|\{(\d{1,4})(?:,(\d{0,4}))?\})\??/;

/** Whether a pattern can be sent to every provider. */
export function isPortablePattern(pattern: string): boolean {
  return pattern.length <= PATTERN_UNITS_MAX && isRead(pattern) && compiles(pattern);
}

function isRead(pattern: string): boolean {
  let isRepeatable = false;
  for (let at = 0; at < pattern.length; ) {
    const rest = pattern.slice(at);
    const repeat = REPEAT.exec(rest);
    if (repeat !== null && !(isRepeatable && isWithin(repeat))) return false;
    const [atom = ''] = ATOM.exec(rest) ?? (rest.startsWith(')') ? [')'] : []);
    const [part = ''] = repeat ?? (atom === '' ? (MARK.exec(rest) ?? []) : [atom]);
    if (part === '' || (part.startsWith('[') && OPERATION.test(part))) return false;
    isRepeatable = repeat === null && atom !== '';
    at += part.length;
  }
  return true;
}

function isWithin([, min, max]: RegExpExecArray): boolean {
  const [from, to] = [Number(min ?? 0), Number(max === undefined || max === '' ? (min ?? 0) : max)];
  return from <= to && to <= REPEATS_MAX;
}

/** Finds what the reader above does not: groups that are not closed, ranges in the wrong order. */
function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern).source !== '';
  } catch {
    return false;
  }
}
