/*
 * An odd MCP server, made of data: its greeting, its pages and what it does for each call are texts, in which "$ID" stands
 * for the id of the request, $NUMBER for its digits, "$TOKEN" for its progress token and $LONG for a million letters. Alone it serves standard
 * input, as ODD_SERVER says.
 */
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const LONG = 'x'.repeat(1_000_000);

const filled = (text, { id, params }) =>
  text
    .replaceAll('"$ID"', JSON.stringify(id))
    .replaceAll('$NUMBER', String(id))
    .replaceAll('"$TOKEN"', JSON.stringify(params?._meta?.progressToken ?? 0))
    .replaceAll('$LONG', () => LONG);

/** What a server does for a message: texts to send, or `exit` and `end`, in order. */
export function deedsFor(spec, message) {
  const { id, method, params = {} } = message;
  const say = (...texts) => texts.map((text) => ({ say: filled(text, message) }));
  if (id === undefined) return [];
  if (method === 'initialize') return say(...spec.before, spec.greeting, ...spec.after);
  if (method === 'ping') return say(...spec.before, '{"jsonrpc":"2.0","id":"$ID","result":{}}');
  if (method === 'tools/list') return say(...spec.before, pageOf(spec, params.cursor), ...spec.after);
  if (method === 'tools/call') {
    const known = Object.hasOwn(spec.calls, params.name);
    const deeds = known ? spec.calls[params.name].deeds : [{ say: '{"jsonrpc":"2.0","id":"$ID","result":{}}' }];
    return deeds.flatMap((deed) => {
      const filledIn = 'say' in deed ? { ...deed, say: filled(deed.say, message) } : deed;
      return Array(deed.times ?? 1).fill(filledIn);
    });
  }
  return say('{"jsonrpc":"2.0","id":"$ID","error":{"code":-32601,"message":"Method not found"}}');
}

function pageOf({ pages, cursors }, cursor) {
  const at = cursor === undefined ? 0 : Number(cursor);
  const last = at + 1 >= pages.length;
  const next = !last ? `,"nextCursor":"${at + 1}"` : cursors === 'endless' ? `,"nextCursor":"${at + 1}"` : cursors;
  return `{"jsonrpc":"2.0","id":"$ID","result":{"tools":[${(pages[at] ?? []).join(',')}]${next}}}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const spec = JSON.parse(process.env.ODD_SERVER ?? '{}');
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const write = (text) => new Promise((resolve) => void process.stdout.write(text, resolve));
  let turn = Promise.resolve();
  const carryOut = async (deeds) => {
    for (const deed of deeds) {
      if ('say' in deed) {
        const line = Buffer.from(`${deed.say}${deed.end ?? '\n'}`, 'utf8');
        if (deed.cut === undefined) await write(line);
        else for (let at = 0; at < line.length; at += deed.cut) await write(line.subarray(at, at + deed.cut));
      } else if (deed.do === 'exit') process.exit(3);
      else if (deed.do === 'wait') await wait(deed.ms);
    }
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const deeds = deedsFor(spec, JSON.parse(line));
    turn = turn.then(() => carryOut(deeds));
  });
}
