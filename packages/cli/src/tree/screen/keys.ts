/** Turns what a terminal sends into keys and texts. Pure. */

/** A key with a name, or text that was typed or pasted. */
export type Key =
  | {
      readonly key:
        | 'up'
        | 'down'
        | 'left'
        | 'right'
        | 'page-up'
        | 'page-down'
        | 'enter'
        | 'escape'
        | 'backspace'
        | 'interrupt'
        | 'redraw';
    }
  | { readonly text: string; readonly pasted?: true };

const SEQUENCES: Readonly<Record<string, Key>> = {
  '\u001b[A': { key: 'up' },
  '\u001bOA': { key: 'up' },
  '\u001b[B': { key: 'down' },
  '\u001bOB': { key: 'down' },
  '\u001b[C': { key: 'right' },
  '\u001bOC': { key: 'right' },
  '\u001b[D': { key: 'left' },
  '\u001bOD': { key: 'left' },
  '\u001b[5~': { key: 'page-up' },
  '\u001b[6~': { key: 'page-down' },
  '\r': { key: 'enter' },
  '\n': { key: 'enter' },
  '\u001b': { key: 'escape' },
  '\u007f': { key: 'backspace' },
  '\b': { key: 'backspace' },
  '\u0003': { key: 'interrupt' },
  '\u000c': { key: 'redraw' },
};

const [PASTE, PASTED] = ['\u001b[200~', '\u001b[201~'] as const;

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal sends them
const PIECES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.)|[\s\S]/gu;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are dropped
const CONTROLS = /[\u0000-\u001f\u007f]+/gu;

/** What was read: keys, and the beginning of a paste whose end has not arrived. */
interface KeysRead {
  readonly keys: readonly Key[];
  readonly rest: string;
}

/** The keys and texts of a read. A paste is one text, whatever it contains; what is no known key is dropped. */
export function keysIn(read: string): KeysRead {
  const begins = read.indexOf(PASTE);
  if (begins < 0) return { keys: typedIn(read), rest: '' };
  const ends = read.indexOf(PASTED, begins);
  const before = typedIn(read.slice(0, begins));
  if (ends < 0) return { keys: before, rest: read.slice(begins) };
  const text = read.slice(begins + PASTE.length, ends).replace(CONTROLS, ' ');
  const after = keysIn(read.slice(ends + PASTED.length));
  return { keys: [...before, { text, pasted: true }, ...after.keys], rest: after.rest };
}

function typedIn(read: string): readonly Key[] {
  return (read.match(PIECES) ?? []).flatMap((piece): Key[] => {
    const known = SEQUENCES[piece];
    if (known !== undefined) return [known];
    return piece < ' ' || piece === '\u007f' ? [] : [{ text: piece }];
  });
}
