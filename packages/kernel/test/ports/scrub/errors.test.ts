import { describe, expect, it } from 'vitest';
import { detailOfError, Scrubber, shownError } from '../../../src/ports/scrub/index.js';

const SECRET = 'secret-of-ann';
const scrubber = new Scrubber([SECRET]);
const detail = (thrown: unknown) => detailOfError(thrown, scrubber);
const shown = (thrown: unknown) => shownError(thrown, scrubber);

describe('the stored details of an error', () => {
  it('the details of an error hold its name, text, code and status without secrets, and those of its causes', () => {
    const cause = Object.assign(new TypeError(`no ${SECRET}`), { code: 'E_CAUSE' });
    const error = Object.assign(new Error('failed', { cause }), { name: `Odd${SECRET}`, code: SECRET, status: 401 });
    expect(detail(error)).toEqual({
      name: 'Odd[secret]',
      message: 'failed',
      code: '[secret]',
      status: 401,
      causes: [{ name: 'TypeError', message: 'no [secret]', code: 'E_CAUSE' }],
    });
  });

  it.each([
    [undefined, ''],
    [null, 'null'],
    [7, '7'],
    ['text', 'text'],
    [{ a: 1 }, '{"a":1}'],
    [{ toJSON: () => undefined }, ''],
    [{ name: '', message: 5, code: '', status: -1 }, '{"name":"","message":5,"code":"","status":-1}'],
    [
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
      'a value without a text',
    ],
    [{ name: 7, code: 7, message: 'm', status: 1.5 }, 'm'],
  ])('the details of any thrown value are a text (row %#)', (thrown, message) => {
    expect(detail(thrown)).toEqual({ name: 'Error', message });
  });

  it('the details of an error hold every property that can be read', () => {
    const thrown = {
      name: 'Odd',
      get message() {
        throw new Error('no');
      },
      toJSON: () => 'so',
      status: 0,
    };
    expect(detail(thrown)).toEqual({ name: 'Odd', message: '"so"', status: 0 });
  });

  it('the details of an error hold at most eight causes, each once, and the errors of an aggregate in their order', () => {
    const loop = new Error('loop');
    loop.cause = loop;
    expect(detail(loop)).toEqual({ name: 'Error', message: 'loop' });
    const many = new AggregateError(
      Array.from({ length: 20 }, (_, n) => new Error(`e${n}`)),
      'all',
    );
    many.cause = new Error('first');
    expect(detail(many).causes?.map(({ message }) => message)).toEqual([
      'first',
      ...[0, 1, 2, 3, 4, 5, 6].map((n) => `e${n}`),
    ]);
  });

  it('the texts of an error are cut at their bound and stay well-formed', () => {
    const exact = 'x'.repeat(4_096);
    expect(detail(new Error(exact)).message).toBe(exact);
    expect(detail(new Error(`${exact}x`)).message).toBe(`${exact.slice(1)}…`);
    expect(detail(new Error(`\uFEFF${'x'.repeat(4_093)}😀yy`)).message).toBe(`\uFEFF${'x'.repeat(4_093)}…`);
    expect(detail(Object.assign(new Error('m'), { name: 'n'.repeat(200), code: 'c'.repeat(200) }))).toEqual({
      name: `${'n'.repeat(127)}…`,
      message: 'm',
      code: `${'c'.repeat(127)}…`,
    });
  });
});

describe('the error that is shown', () => {
  it('the shown error is the same object when it contains no secret and when no secret is known', () => {
    const clean = Object.assign(new Error('clean', { cause: { a: [1, null, 'x'] } }), { bytes: new Uint8Array(3) });
    expect(shown(clean)).toBe(clean);
    const error = Object.assign(new Error('x'), { socket: new Map() });
    expect(shownError(error, new Scrubber())).toBe(error);
  });

  it('the shown error has the same class and fields, with secrets removed from every text [CON-16]', () => {
    class Refused extends TypeError {
      constructor(readonly request: object) {
        super(`refused ${SECRET}`);
      }
    }
    const list = [SECRET, 1, undefined];
    const error = new Refused({ headers: { [SECRET]: 1, auth: `Bearer ${SECRET}` }, list, again: list });
    const told = shown(error) as Refused;
    expect(told).toBeInstanceOf(Refused);
    expect(told).not.toBe(error);
    expect(told.message).toBe('refused [secret]');
    expect(told.stack).not.toContain(SECRET);
    expect(told.request).toEqual({
      headers: { '[secret]': 1, auth: 'Bearer [secret]' },
      list: ['[secret]', 1, undefined],
      again: ['[secret]', 1, undefined],
    });
    expect(Object.getOwnPropertyDescriptor(told, 'message')).toEqual({
      value: 'refused [secret]',
      enumerable: false,
      configurable: true,
      writable: true,
    });
    expect(Object.keys(told)).toEqual(Object.keys(error));
  });

  it('cycles, bytes and symbols of an error are copied and scrubbed [CON-16]', () => {
    const mark = Symbol('mark');
    const error = Object.assign(new Error('plain'), { [mark]: SECRET, bytes: new TextEncoder().encode(`<${SECRET}>`) });
    error.cause = error;
    const told = shown(error) as typeof error;
    expect(told.cause).toBe(told);
    expect(told[mark]).toBe('[secret]');
    expect(new TextDecoder().decode(told.bytes)).toBe('<[secret]>');
  });

  it('an object that cannot be inspected is replaced by the name of its class', () => {
    class Socket {
      readonly token = SECRET;
    }
    const bare = Object.create(Object.create(null)) as object;
    const error = Object.assign(new Error('plain'), { socket: new Socket(), bare });
    expect(shown(error)).toMatchObject({ socket: '[Socket]', bare: '[object]' });
    expect(
      shown(
        new Proxy(
          {},
          {
            getPrototypeOf: () => Socket.prototype,
            ownKeys: () => {
              throw new Error('no');
            },
          },
        ),
      ),
    ).toBe('[Socket]');
  });

  it('objects beyond the first two thousand are replaced by the names of their classes', () => {
    const error = Object.assign(new Error('plain'), { list: Array.from({ length: 2_100 }, (_, n) => ({ n })) });
    const told = shown(error) as typeof error;
    expect(told.list.slice(1_997)).toMatchObject([
      { n: 1_997 },
      '[Object]',
      ...Array.from({ length: 101 }, () => '[Object]'),
    ]);
  });

  it('an error of another realm is scrubbed as an error', () => {
    const foreign = { [Symbol.toStringTag]: 'Error', message: SECRET };
    expect(shown(foreign)).toMatchObject({ message: '[secret]' });
  });
});
