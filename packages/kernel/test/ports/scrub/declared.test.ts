import { describe, expect, it } from 'vitest';
import {
  concealAddress,
  concealArguments,
  concealHeaders,
  concealVariables,
  Scrubber,
} from '../../../src/ports/scrub/index.js';

const KEY = 'abcdefgh12345678';

/** Which of some texts a scrubber removes, once it has been told something. */
function removed(texts: readonly string[], tell: (scrubber: Scrubber) => void): string[] {
  const scrubber = new Scrubber();
  tell(scrubber);
  return texts.filter((text) => scrubber.scrub(`<${text}>`) !== `<${text}>`);
}

const ofHeaders = (headers: readonly (readonly [string, string])[], texts: readonly string[]) =>
  removed(texts, (scrubber) => concealHeaders(scrubber, headers));
const ofAddress = (address: string | URL, texts: readonly string[]) =>
  removed(texts, (scrubber) => concealAddress(scrubber, address));
const ofVariables = (variables: Readonly<Record<string, string>>, texts: readonly string[]) =>
  removed(texts, (scrubber) => concealVariables(scrubber, variables));
const ofArguments = (args: readonly string[], texts: readonly string[]) =>
  removed(texts, (scrubber) => concealArguments(scrubber, args));

describe('the headers of a request', () => {
  it('every header of a request is concealed, in any case, except those known to hold no secret [CON-16]', () => {
    const headers = [
      ['X-Whatever', 'value-of-whatever'],
      ['x-api-key', 'value-of-a-key'],
      ['Content-Type', 'application/json'],
      ['ANTHROPIC-VERSION', 'the-version-2023'],
      ['user-agent', 'reprise-agent'],
    ] as const;
    const values = headers.map(([, value]) => value);
    expect(ofHeaders(headers, values)).toEqual(values.slice(0, 2));
  });

  it.each(['Bearer token-of-ann', '  Token\t token-of-ann', 'x token-of-ann', 'A-b9   token-of-ann'])(
    'the value of a header is concealed without its scheme as well: %j [CON-16]',
    (value) => {
      expect(ofHeaders([['authorization', value]], ['token-of-ann', 'Bearer other'])).toEqual(['token-of-ann']);
    },
  );

  it('a header of several lines is concealed whole and without its scheme [CON-16]', () => {
    const scrubber = new Scrubber();
    concealHeaders(scrubber, [['authorization', 'Bearer token-of-ann and-of-bob']]);
    expect(scrubber.scrub('token-of-ann and-of-bob')).toBe('[secret]');
  });

  it('a password in the scheme of a user and a password is concealed by itself [CON-16]', () => {
    const value = (scheme: string) => `${scheme} ${btoa('ann:password-of-ann')}`;
    const texts = ['ann:password-of-ann', 'password-of-ann'];
    for (const scheme of ['Basic', 'basic', 'BASIC']) {
      expect(ofHeaders([['authorization', `${value(scheme)} `]], texts)).toEqual(texts);
      expect(ofHeaders([['authorization', value(scheme)]], ['assword-of-an'])).toEqual([]);
    }
    expect(ofHeaders([['authorization', `Basic ${btoa(':password-of-nobody')}`]], ['password-of-nobody'])).toHaveLength(
      1,
    );
    expect(ofHeaders([['authorization', `Basic ${btoa('user-without-any')}`]], ['user-without-any'])).toHaveLength(1);
    expect(ofHeaders([['authorization', `Basic ${btoa('user-without-any')}`]], ['ser-without-any'])).toEqual([]);
    // Of another scheme nobody knows that it is base64: the decoded text is what it is by chance.
    expect(ofHeaders([['authorization', value('Other')]], ['password-of-ann'])).toEqual([]);
    expect(() => ofHeaders([['authorization', 'Basic %%%-is-no-base64']], [])).not.toThrow();
  });

  it('a header of pairs has each value concealed [CON-16]', () => {
    const cookie = 'id=first-of-three; b= "second-of-three", c="third-of-three"';
    const texts = ['first-of-three', 'second-of-three', 'third-of-three'];
    expect(ofHeaders([['cookie', cookie]], texts)).toEqual(texts);
    expect(ofHeaders([['cookie', cookie]], ['irst-of-thre'])).toEqual([]);
  });
});

describe('an address', () => {
  it('a user and a password in an address are concealed together, and the password alone [CON-16]', () => {
    const texts = ['ann-the-user:p@ss-of-ann', 'ann-the-user:p%40ss-of-ann', 'p@ss-of-ann', 'ann-the-user'];
    expect(ofAddress('https://ann-the-user:p%40ss-of-ann@example.com/', texts)).toEqual(texts.slice(0, 3));
    expect(ofAddress(new URL('https://ann-the-user:p%40ss-of-ann@example.com/'), texts)).toEqual(texts.slice(0, 3));
  });

  it('a user in an address is concealed without a password, and when it looks like a key [CON-16]', () => {
    expect(ofAddress('https://token-of-ann@example.com/', ['token-of-ann'])).toEqual(['token-of-ann']);
    expect(ofAddress(`https://${KEY}:x@example.com/`, [KEY])).toEqual([KEY]);
    expect(ofAddress('https://example.com/', ['undefined:undefined', 'example.com'])).toEqual([]);
  });

  it('parameters of an address are concealed by their names or their looks, and nothing else of the query is [CON-16]', () => {
    const address = `https://example.com/search?q=nothing-secret&access_token=value-of-token&id=${KEY}`;
    expect(ofAddress(address, ['nothing-secret', 'value-of-token', KEY])).toEqual(['value-of-token', KEY]);
  });

  it('parameters in the fragment of an address are concealed like those of its query, and a fragment that looks like a key [CON-16]', () => {
    const address = 'https://example.com/#state=nothing-secret&access_token=value-of-token';
    expect(ofAddress(address, ['nothing-secret', 'value-of-token'])).toEqual(['value-of-token']);
    expect(ofAddress(`https://example.com/#${KEY}`, [KEY])).toEqual([KEY]);
    expect(ofAddress('https://example.com/#a-part-of-a-page', ['a-part-of-a-page'])).toEqual([]);
  });

  it('a password in an address of several hosts is concealed, as databases have them [CON-16]', () => {
    const address = 'mongodb+srv://ann:p%40ss-of-ann@one.example:27017,two.example:27017/shop';
    expect(ofAddress(address, ['p%40ss-of-ann', 'p@ss-of-ann', 'one.example', '27017/shop'])).toEqual([
      'p%40ss-of-ann',
      'p@ss-of-ann',
    ]);
  });

  it('parts of a path that look like keys are concealed, also with escapes decoded [CON-16]', () => {
    expect(ofAddress(`https://example.com/hooks/${KEY}/send`, [KEY, '/hooks/a', 'example.com'])).toEqual([KEY]);
    expect(ofAddress('https://example.com/k%2Bey-12345678-abc/', ['k+ey-12345678-abc'])).toHaveLength(1);
    expect(ofAddress(`https://example.com/%zz/${KEY}`, [KEY])).toEqual([KEY]);
  });

  it('an address without a scheme, or one that cannot be parsed, conceals nothing', () => {
    for (const text of [`ann:password@example.com`, `see https://example.com/${KEY}`, `https://[/${KEY}`]) {
      expect(ofAddress(text, [KEY, 'password'])).toEqual([]);
    }
    expect(ofAddress(`GIT+SSH://example.com/${KEY}`, [KEY])).toEqual([KEY]);
  });

  it.each([
    ['sixteen characters with four digits', 'abcdefghijkl1234', true],
    ['fifteen characters', 'abcdefghijk1234', false],
    ['three digits', 'abcdefghijklm123', false],
    ['digits alone', '1234567890123456', false],
    ['blanks', 'abcdefgh 12345678', false],
    ['a backslash', 'abcdefgh\\12345678', false],
  ])('a long part of a path with letters and digits counts as a key: %s', (_, text, isKey) => {
    expect(ofAddress(`https://example.com/?q=${encodeURIComponent(text)}`, [text])).toEqual(isKey ? [text] : []);
  });
});

describe('the variables of a program', () => {
  it('a variable that is a header has its token concealed by itself [CON-16]', () => {
    const variables = { AUTH: 'Bearer token-of-ann', BASIC_AUTH: `Basic ${btoa('ann:password-of-ann')}` };
    expect(ofVariables(variables, ['token-of-ann', 'password-of-ann'])).toEqual(['token-of-ann', 'password-of-ann']);
  });

  it('a variable of a program is concealed when its name is secret or its value is not a plain setting [CON-16]', () => {
    const variables = {
      MODE: 'production',
      PORTS: '127.0.0.1:8080,9090',
      FOLDER: '/srv/something/else',
      HERE: './something/else',
      HOME: '~/something-else',
      API_KEY: 'productionkey',
      DB_PWD: '1234567890',
      OTHER: 'who-knows-what-it-is',
      MIXED: 'production1',
      DATABASE: 'postgres://ann:password-of-ann@example.com/shop',
    };
    const texts = [...Object.values(variables), 'password-of-ann'];
    const { API_KEY, DB_PWD, OTHER, MIXED, DATABASE } = variables;
    expect(ofVariables(variables, texts)).toEqual([API_KEY, DB_PWD, OTHER, MIXED, DATABASE, 'password-of-ann']);
  });

  it('the password in an address is concealed by itself, also where the whole variable is a plain setting [CON-16]', () => {
    expect(ofVariables({ URL: 'a://ann:password-of-ann@b/' }, ['password-of-ann'])).toEqual(['password-of-ann']);
  });
});

describe('the arguments of a program', () => {
  it.each([
    ['behind a name', ['--token', 'value-of-it'], 'value-of-it'],
    ['joined to a name', ['--api-key=value-of-it'], 'value-of-it'],
    ['joined to a name without dashes', ['secret:value-of-it'], 'value-of-it'],
    ['that looks like a key', ['run', KEY], KEY],
    ['that looks like a key, joined to a name', [`--id=${KEY}`], KEY],
    ['in an address', ['https://ann:password-of-ann@example.com'], 'password-of-ann'],
    ['in an address, joined to a name', ['--to=https://ann:password-of-ann@example.com'], 'password-of-ann'],
    ['in a header', ['-H', 'Authorization: Bearer value-of-it'], 'value-of-it'],
    ['in a header of pairs', ['-H', 'Cookie: a=1; b=value-of-it'], 'value-of-it'],
    ['of lines', ['--key=value-of-it\nand-of-that'], 'value-of-it\nand-of-that'],
  ])('arguments of a program conceal a secret %s [CON-16]', (_, args, secret) => {
    expect(ofArguments(args, [secret])).toEqual([secret]);
  });

  it('arguments without a secret stay readable', () => {
    const args = ['run', '--mode=production', '--token', '--verbose-mode', 'production', 'keyword', 'something-else'];
    expect(ofArguments(args, ['production', '--verbose-mode', 'something-else'])).toEqual([]);
    expect(ofArguments(['-H', 'Accept: application/json'], ['application/json'])).toEqual([]);
  });
});

describe('arguments of a program that hold headers and users', () => {
  it.each([
    ['a header after its option', ['-H', 'Authorization: Bearer token-of-ann']],
    ['a header in its option', ['--header=Authorization: Bearer token-of-ann']],
    ['the value of a header after an option of that name', ['--authorization', 'Bearer token-of-ann']],
    ['the value of a header in an option of that name', ['--auth=Bearer token-of-ann']],
    ['a header in Basic', ['-H', `Authorization: Basic ${btoa('ann:token-of-ann')}`]],
    ['a user and a password after their option', ['-u', 'ann:token-of-ann']],
    ['a user and a password in their option', ['--user=ann:token-of-ann']],
    ['an address of several hosts', ['--db=mongodb://ann:token-of-ann@a:1,b:2/x']],
    ['a fragment of an address', ['https://example.com/#token=token-of-ann']],
  ])('a secret is concealed by itself in %s [CON-16]', (_, args) => {
    expect(ofArguments(args, ['token-of-ann', 'Authorization', 'user', 'header'])).toEqual(['token-of-ann']);
  });
});
