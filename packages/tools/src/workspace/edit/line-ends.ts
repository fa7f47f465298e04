/**
 * Line ends in edits. A model writes LF and cannot see which lines of a file end in CR LF: a text is found whatever its
 * line ends are, and a replacement gets those of the lines in whose place it stands. A text with CR says exactly which
 * line ends it means, and is taken as it is.
 */

/** A stretch of a text. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Where a text occurs: as it is or, where it does so nowhere, with other line ends. */
export function spansOf(text: string, wanted: string): readonly Span[] {
  const exact = occurrences(text, wanted);
  if (exact.length > 0) return exact;
  const { plain, offsets } = withPlainEnds(text);
  const found = occurrences(plain, wanted.replaceAll('\r\n', '\n'));
  return found.map(({ from, to }) => ({ from: offsets(from), to: offsets(to) }));
}

/** The text with a replacement in place of each span. */
export function replaced(
  text: string,
  spans: readonly Span[],
  { old, new: put }: { old: string; new: string },
): string {
  const isMeant =
    put.includes('\r') || (old.includes('\r') && spans.every(({ from, to }) => text.slice(from, to) === old));
  let out = '';
  let end = 0;
  for (const { from, to } of spans) {
    out += text.slice(end, from) + (isMeant ? put : withEndsOf(put, text, { from, to }));
    end = to;
  }
  return out + text.slice(end);
}

function occurrences(text: string, wanted: string): readonly Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    spans.push({ from: at, to: at + wanted.length });
  return spans;
}

/** A text with LF alone, and a function from its offsets to those of the text. */
function withPlainEnds(text: string): { readonly plain: string; offsets(at: number): number } {
  const removed: number[] = []; // where a CR was removed, in the plain text, in order
  const plain = text.replace(/\r\n/g, (_, at: number) => {
    removed.push(at - removed.length);
    return '\n';
  });
  const offsets = (at: number): number => {
    let low = 0;
    for (let high = removed.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((removed[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return at + low;
  };
  return { plain, offsets };
}

/** A replacement with the line ends of what it replaces, and beyond those with the one of the line at its place. */
function withEndsOf(put: string, text: string, { from, to }: Span): string {
  const ends = text.slice(from, to).match(/\r?\n/g) ?? [];
  const last = ends.at(-1) ?? nearestEnd(text, from, to);
  let at = 0;
  return put.replace(/\n/g, () => ends[at++] ?? last);
}

/** The line break that ends the line of a place, or else the one before it; LF in a text of one line. */
function nearestEnd(text: string, from: number, to: number): string {
  const next = text.indexOf('\n', to);
  const at = next >= 0 ? next : text.lastIndexOf('\n', from - 1);
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
}
