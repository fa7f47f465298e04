/**
 * The process around a sandbox: a separate realm, and a barrier that only text passes.
 *
 * It runs with Node's permissions withheld, without an environment, with its own realm frozen and unable to make code of
 * text. It calls what is inside of the realm, and nothing inside can call it: no function of this realm is ever in there.
 * The one thing by which code reaches the host is an import; the process is over before it is answered.
 */
import vm from 'node:vm';
import type { CodeBody, Room } from '@reprise/kernel/sandbox';
import { pieceOf, pieceReader } from './frames.js';
import { CODE, ENGINE, IMPORTED, MESSAGE } from './pieces.js';

const PIECE_BYTES_MAX = 2 ** 30;
const BROKEN = 70;

const realm = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
let room: Room | undefined;

const read = pieceReader(PIECE_BYTES_MAX, ({ kind, bytes }) => {
  if (kind === ENGINE) room = vm.runInContext(bytes.toString('utf8'), realm) as Room;
  else if (room === undefined) process.exit(BROKEN);
  else if (kind === CODE) load(room, bytes.toString('utf8'));
  else if (kind === MESSAGE) room.tell(bytes.toString('latin1'));
  setImmediate(say); // the realm is idle by then: it waits only for messages
});

process.stdin.on('data', read);
process.stdin.on('end', () => setImmediate(() => process.exit(0))); // the last message is answered before the end

function load(inside: Room, text: string): void {
  let body: CodeBody;
  try {
    const names = ['module', 'exports', 'require'];
    body = vm.compileFunction(text, names, {
      parsingContext: realm,
      filename: 'pure-code.js',
      // Without it an import is refused with a promise and an error of this realm, which lead to its constructors.
      importModuleDynamically: () => process.exit(IMPORTED),
    }) as CodeBody;
  } catch (error) {
    return inside.refuse(`the code does not parse: ${String(error)}`);
  }
  inside.load(body);
}

function say(): void {
  const said: unknown = room?.take();
  if (typeof said !== 'string') process.exit(BROKEN);
  if (said !== '') process.stdout.write(pieceOf(MESSAGE, Buffer.from(said, 'latin1')));
}
