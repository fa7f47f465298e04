/** What a person types, from the bytes of the terminal to lines with their origin. Pure: times are given. */
import { cleared, GATE, type Gate, pressed, typed } from '../../approvals/gate.js';
import { graphemesOf } from '../text/width.js';
import { type Editor, type Effect, edit, editorWith, withText } from './editor.js';
import { DECODING, type Decoding, decode, type Input, isAnswer, settle } from './keys.js';

/** The state of the input. */
export interface Typing {
  readonly decoding: Decoding;
  readonly editor: Editor;
  readonly gate: Gate;
}

/** What an input asks of the program. A submitted text is still in the gate, which knows its origin. */
export type Asks =
  | { readonly type: 'submit'; readonly text: string; readonly typing: Typing }
  | { readonly type: Exclude<Effect, 'submit'> }
  | { readonly type: 'key'; readonly name: string };

/** The state before the first key. */
export function typingWith(history: readonly string[]): Typing {
  return { decoding: DECODING, editor: editorWith(history), gate: GATE };
}

/** Handles the inputs of one read, one at a time; `answer` handles what an input asks for. */
export function receive(
  typing: Typing,
  read: { readonly text: string; readonly at: number; readonly columns: number },
  answer: (asked: Asks, typing: Typing) => Typing,
): Typing {
  const { decoding, inputs } = decode(typing.decoding, read.text);
  const [first, ...more] = inputs;
  // A terminal may hand over a character and its Enter in one read, or one right behind the other.
  const isBehind = first !== undefined && more.length === 0 && isAnswer([...typedIn(typing.editor), first]);
  const isOne = isBehind || isAnswer(inputs);
  return inputs.reduce(
    (state, input, i) => take(state, input, { ...read, isSame: isOne && (isBehind || i > 0) }, answer),
    {
      ...typing,
      decoding,
    },
  );
}

/** The line as inputs, when it is one character. */
function typedIn({ text }: Editor): readonly Input[] {
  return graphemesOf(text.slice(0, 64)).length === 1 ? [{ kind: 'text', text }] : [];
}

/** Handles an escape character that nothing followed. */
export function receiveRest(
  typing: Typing,
  read: { readonly at: number; readonly columns: number },
  answer: (asked: Asks, typing: Typing) => Typing,
): Typing {
  const { decoding, inputs } = settle(typing.decoding);
  return inputs.reduce((state, input) => take(state, input, { ...read, isSame: false }, answer), {
    ...typing,
    decoding,
  });
}

/** The keys that put a text into the line that was not typed there. */
const RECALLS: ReadonlySet<string> = new Set(['up', 'down', 'y', 'p', 'n']);
/** The keys that have a meaning beside the text, when no text is typed. */
const SPECIAL: ReadonlySet<string> = new Set(['pageup', 'pagedown', ' ']);

function take(
  typing: Typing,
  input: Input,
  { at, columns, isSame }: { readonly at: number; readonly columns: number; readonly isSame: boolean },
  answer: (asked: Asks, typing: Typing) => Typing,
): Typing {
  const name = input.kind === 'key' ? input.name : input.text;
  if (SPECIAL.has(name) && typing.editor.text === '')
    return answer({ type: 'key', name }, { ...typing, gate: pressed(typing.gate, at) });
  const { editor, effect } = edit(typing.editor, input, columns);
  const isRecalled = input.kind === 'key' && editor.text !== typing.editor.text && RECALLS.has(name);
  const gate = typed(typing.gate, at, { isPaste: input.kind === 'paste' || isRecalled, isSame });
  const next: Typing = { ...typing, editor, gate: editor.text === '' ? cleared(gate) : gate };
  if (effect === undefined) return next;
  if (effect !== 'submit') return answer({ type: effect }, next);
  // An empty line has an origin too: the Enter that was pressed.
  const submitted = { ...next, gate };
  return answer(
    { type: 'submit', text: editor.text, typing: submitted },
    { ...submitted, editor: withText(editor, '') },
  );
}
