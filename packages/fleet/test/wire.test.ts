/** The door and those who knock: what is not signed for this process, now and for the first time, does nothing. */
import { request } from 'node:http';
import { createServer, type Server } from 'node:net';
import { RepriseError } from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Receiver } from '../src/http/receiver.js';
import { Sender } from '../src/http/sender.js';
import { openFleet } from '../src/index.js';
import { CALL_BYTES_MAX, type Outcome, readOutcome, writeOutcome } from '../src/wire/outcome.js';
import { type ForwardedCall, NONCES_MAX, Nonces, Secrets, signAnswer, WINDOW_MS, writeCall } from '../src/wire/seal.js';

const SECRET = 'a secret of the tests, long enough';
const secrets = new Secrets([SECRET]);
const answer: Outcome = { kind: 'answer', output: encode('done') };

let executed: ForwardedCall[] = [];
let refused: unknown[] = [];
let next: () => Promise<Outcome> = async () => answer;
let address = '';
const receiver = new Receiver({
  ...{ secrets, fleet: () => 'shops', address: () => address },
  execute: (call) => {
    executed.push(call);
    return next();
  },
  refused: (error) => refused.push((error as RepriseError).details.reason),
});
beforeAll(async () => {
  address = `http://127.0.0.1:${await receiver.listen('127.0.0.1', 0)}/this-start`;
});
afterAll(() => receiver.close());
beforeEach(() => {
  [executed, refused, next] = [[], [], async () => answer];
});

let nonces = 0;
const callOf = (more: Partial<ForwardedCall> = {}): ForwardedCall => ({
  ...{ fleet: 'shops', to: address, world: 'antwerp', operation: 'shop/order@1', input: encode('lamp'), id: 'r-1' },
  ...{ as: 'human:ann', within: 5_000, patience: 80, at: Date.now(), nonce: `number of one use ${nonces++}` },
  ...more,
});

/** Sends bytes with a signature, as anybody can. */
function knock(
  body: Uint8Array,
  signature: string | undefined,
  method = 'POST',
): Promise<{ status: number; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'close', ...(signature === undefined ? {} : { 'x-reprise-signature': signature }) };
    const asking = request(address, { method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(parts) }));
    });
    asking.on('error', reject).end(body);
  });
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const signed = (body: Uint8Array, by = secrets) => hexOf(by.sign(body).signature);
/** What a signed answer says. */
const outcomeOf = (bytes: Buffer) => readOutcome(bytes.subarray(bytes.indexOf(1) + 33));

describe('a secret', () => {
  it('a process without a secret of 32 bytes does not join a fleet, and no error shows it [FLEET-3]', async () => {
    for (const secret of [undefined, '', 'x'.repeat(31), [], ['x'.repeat(32), 'short']]) {
      const options = { database: 'postgres://localhost/none', open: () => undefined, secret };
      const refused = await openFleet(options as never).catch((error: unknown) => error as RepriseError);
      expect(refused).toMatchObject({ code: 'invalid_argument' });
      expect(JSON.stringify(refused)).not.toMatch(/xxx|short"/);
    }
  });
});

describe('the door', () => {
  it('a signed request is executed, and its answer is signed for it [FLEET-1, FLEET-2]', async () => {
    const body = writeCall(callOf());
    const { status, bytes } = await knock(body, signed(body));
    expect([status, executed.length, outcomeOf(bytes)]).toEqual([200, 1, answer]);
    expect(bytes.subarray(1, 33)).toEqual(signAnswer(secrets.sign(body), bytes.subarray(33)));
  });

  it('a request of which any byte was changed is refused, with everything that it says [FLEET-1]', async () => {
    const body = writeCall(callOf());
    const signature = signed(body);
    for (let at = 0; at < body.length; at++) {
      const changed = Uint8Array.from(body);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect((await knock(changed, signature)).status, `byte ${at}`).toBe(403);
    }
    for (const wrong of [
      undefined,
      '',
      'x',
      signature.slice(1),
      signature.replace(/^./, (one) => (one === '0' ? '1' : '0')),
    ])
      expect((await knock(body, wrong)).status).toBe(403);
    expect([executed.length, new Set(refused)]).toEqual([0, new Set(['signature'])]);
  });

  it('a request that another sender signed, or signed for another fleet, process or time, is refused [FLEET-1]', async () => {
    const late = Date.now() - WINDOW_MS - 1_000;
    const cases: [string, ForwardedCall, Secrets?][] = [
      ['signature', callOf(), new Secrets(['another secret that is long enough'])],
      ['fleet', callOf({ fleet: 'other shops' })],
      ['address', callOf({ to: address.replace('this', 'the-last') })],
      ['time', callOf({ at: late })],
      ['time', callOf({ at: Date.now() + WINDOW_MS + 1_000 })],
      ['malformed', { ...callOf(), more: 1 } as ForwardedCall],
      ['malformed', callOf({ as: 'nobody' as never })],
    ];
    for (const [why, call, by] of cases) {
      const body = writeCall(call);
      const { bytes } = await knock(body, signed(body, by));
      expect(refused.pop(), why).toBe(why);
      if (by === undefined) expect(outcomeOf(bytes)).toMatchObject({ kind: 'again', reason: 'refused' });
    }
    expect(executed).toEqual([]);
  });

  it('a request that comes again, byte for byte, is refused [FLEET-1]', async () => {
    const body = writeCall(callOf());
    await knock(body, signed(body));
    const { bytes } = await knock(body, signed(body));
    expect([executed.length, refused]).toEqual([1, ['replayed']]);
    expect(outcomeOf(bytes)).toMatchObject({ reason: 'refused', error: { code: 'forward_refused' } });
  });

  it('the number of a request is remembered for as long as the request would be accepted, and numbers are bounded', () => {
    let now = 0;
    const used = new Nonces(() => now);
    expect([used.take('a'), used.take('a')]).toEqual([undefined, 'used']);
    for (now = 0; now <= 2 * WINDOW_MS; now += 1_000) {
      used.take(`at ${now}`);
      expect(used.take('a')).toBe('used');
    }
    const full = new Nonces(() => now);
    for (let n = 0; n < NONCES_MAX; n++) full.take(String(n));
    expect(full.take('one more')).toBe('full');
    now += 2 * WINDOW_MS;
    expect(full.take('one more')).toBeUndefined();
  });

  it('a body that is too large, another method, and bytes that are no request are refused', async () => {
    const large = new Uint8Array(CALL_BYTES_MAX + 64 * 1024);
    const status = await knock(large, signed(large)).then(
      (found) => found.status,
      () => 413, // the door was closed before all of it was sent
    );
    expect([status, refused]).toEqual([413, ['too large']]);
    expect((await knock(new Uint8Array(), undefined, 'GET')).status).toBe(403);
    const bytes = encode(['no', 'call']);
    await knock(bytes, signed(bytes));
    expect(refused.slice(1)).toEqual(['malformed', 'malformed']);
  });

  it('an error travels as its code, its sentence and its details, and never its cause [FLEET-6]', async () => {
    const cases = [
      { where: 'x', expected: 1, bytes: new Uint8Array(2) },
      { where: 'y', actual: () => 1 },
      { deep: 'z'.repeat(99_999) },
    ];
    for (const details of cases) {
      const error = new RepriseError('cell_absent', 'no cell', { ...details, cause: new Error('secret place') });
      const bytes = writeOutcome({ kind: 'error', error });
      expect(bytes.length).toBeLessThan(32 * 1024);
      expect(Buffer.from(bytes).includes('secret place')).toBe(false);
      expect(readOutcome(bytes)).toMatchObject({ kind: 'error', error: { code: 'cell_absent', what: 'no cell' } });
    }
    expect(readOutcome(encode({ kind: 'error', code: 'no_code', what: 'x', details: {} }))).toBeUndefined();
  });
});

describe('who knocks', () => {
  let server: Server;
  /** What the other side answers, byte for byte, to a body. */
  let says: (body: Buffer) => readonly (Uint8Array | 'cut' | 'end')[] = () => [];
  let there = '';
  const sender = new Sender(secrets);
  beforeAll(async () => {
    server = createServer((socket) => {
      let got = Buffer.alloc(0);
      socket
        .on('error', () => undefined)
        .on('data', (part) => {
          got = Buffer.concat([got, part]);
          const start = got.indexOf('\r\n\r\n');
          const length = Number(/content-length: (\d+)/i.exec(got.toString('latin1'))?.[1] ?? Number.NaN);
          if (start === -1 || got.length < start + 4 + length) return;
          const body = got.subarray(start + 4);
          got = Buffer.alloc(0);
          for (const part of says(body)) {
            if (part === 'cut') socket.destroy();
            else if (part === 'end') socket.end();
            else socket.write(part);
          }
        });
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    there = `http://127.0.0.1:${(server.address() as { port: number }).port}/a-start`;
  });
  afterAll(() => {
    sender.close();
    server.close();
  });

  const head = (more: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${more}\r\n\r\n`);
  const whole = (bytes: Uint8Array) => [head(`content-length: ${bytes.length}`), bytes];
  const sealed = (body: Buffer, outcome: Uint8Array, by = secrets.sign(body)) =>
    Buffer.concat([Uint8Array.of(0, 0, 1), signAnswer(by, outcome), outcome]);
  const send = (signal = new AbortController().signal, patienceMs = 300) =>
    sender.send(there, { body: writeCall(callOf({ to: there })), patienceMs, signal });

  it('an answer that is signed for the request is taken, behind any number of beats', async () => {
    says = (body) => whole(sealed(body, writeOutcome(answer)));
    expect(await send()).toEqual(answer);
  });

  it('an answer of which any byte was changed is forged [FLEET-2]', async () => {
    const length = writeOutcome(answer).length + 33;
    for (let at = 1; at < length; at++) {
      says = (body) => {
        const bytes = sealed(body, writeOutcome(answer));
        bytes[at + 2] = (bytes[at + 2] ?? 0) ^ 1;
        return whole(bytes);
      };
      expect(await send(), `byte ${at}`).toEqual({ kind: 'again', reason: 'forged' });
    }
  });

  it('an answer to another request, without a signature, or that is no outcome is forged [FLEET-2]', async () => {
    const before = writeCall(callOf());
    const cases: ((body: Buffer) => Uint8Array)[] = [
      (body) => sealed(body, writeOutcome(answer), secrets.sign(before)),
      (body) => sealed(body, writeOutcome(answer), new Secrets(['another secret that is long enough']).sign(body)),
      () => Buffer.from('{"ok":true}'),
      () => Buffer.from('<html>'),
      (body) => sealed(body, encode({ kind: 'gift' })),
      (body) => sealed(body, Uint8Array.of(255)),
    ];
    for (const make of cases) {
      says = (body) => whole(make(body));
      expect(await send()).toEqual({ kind: 'again', reason: 'forged' });
    }
  });

  it('an answer that is cut, too large, silent, refused or never begins has a reason', async () => {
    const half = (body: Buffer) => sealed(body, writeOutcome(answer)).subarray(0, 20);
    const cases: [string, typeof says][] = [
      ['cut', (body) => [head('content-length: 99'), half(body), 'cut']],
      ['cut', (body) => [head('transfer-encoding: chunked'), Buffer.from('14\r\n'), half(body), 'end']],
      ['cut', () => [head('content-length: 0')]],
      ['too_large', () => whole(new Uint8Array(CALL_BYTES_MAX + 128 * 1024).fill(1))],
      ['silent', () => []],
      ['silent', (body) => [head('content-length: 99'), half(body)]],
      ['refused', () => [Buffer.from('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n')]],
      ['unreachable', () => ['cut']],
      ['unreachable', () => [Buffer.from('SSH-2.0-OpenSSH\r\n\r\n')]],
    ];
    for (const [reason, make] of cases) {
      says = make;
      expect(await send(), reason).toMatchObject({ kind: 'again', reason });
    }
    const nowhere = await sender.send('http://127.0.0.1:1/x', {
      ...{ body: writeCall(callOf()), patienceMs: 300, signal: new AbortController().signal },
    });
    expect(nowhere).toMatchObject({ reason: 'unreachable' });
  });

  it('a process that says again and again that it lives is waited for, until the caller stops [FLEET-7]', async () => {
    says = () => [];
    const stop = new AbortController();
    next = () => new Promise((resolve) => setTimeout(() => resolve(answer), 2_500)); // longer than the patience below
    const body = writeCall(callOf());
    expect(await sender.send(address, { body, patienceMs: 1_500, signal: stop.signal })).toEqual(answer);
    const waiting = send(stop.signal, 60_000);
    stop.abort();
    expect(await waiting).toEqual({ kind: 'again', reason: 'slow' });
    expect(await send(stop.signal)).toEqual({ kind: 'again', reason: 'slow' });
  });
});
