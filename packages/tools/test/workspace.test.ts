import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { cpuMsOf } from '../../../scripts/lib/cpu.js';
import { workspace } from '../src/index.js';
import { caller, put, sandbox } from './sandbox.js';

const SEED = 384;

const sha256 = (of: string | Uint8Array) => `sha256:${createHash('sha256').update(of).digest('hex')}`;
const body = (text: string) => text.split('\n').slice(1);

describe('list_files', () => {
  it('list_files shows type, size, time and path, with names in byte order', async () => {
    const { call, root } = sandbox({ 'b.txt': '12345', 'B.txt': '', 'a/deep.txt': 'x', 'é.txt': 'x', 'z.txt': 'x' });
    for (const name of ['a', '.']) utimesSync(path.join(root, name), 1_700_000_000, 1_700_000_000);
    expect((await call('list_files')).text.split('\n')).toEqual([
      'Folder . (5 entries)',
      'file 0 2024-05-06T07:08:09.125Z B.txt',
      'dir - 2023-11-14T22:13:20.000Z a',
      'file 5 2024-05-06T07:08:09.125Z b.txt',
      'file 1 2024-05-06T07:08:09.125Z z.txt',
      'file 1 2024-05-06T07:08:09.125Z é.txt',
    ]);
  });

  it('list_files lists to the requested depth, upper levels first', async () => {
    const { call } = sandbox({ 'a/1/x': '', 'b/2/y': '', top: '' });
    const paths = async (depth: number) => body((await call('list_files', { depth })).text).map((l) => l.split(' ')[3]);
    expect(await paths(1)).toEqual(['a', 'b', 'top']);
    expect(await paths(2)).toEqual(['a', 'b', 'top', 'a/1', 'b/2']);
    expect(await paths(9)).toEqual(['a', 'b', 'top', 'a/1', 'b/2', 'a/1/x', 'b/2/y']);
  });

  it('list_files shows ignored folders without entering them, unless their name is given', async () => {
    const { call, root } = sandbox({
      'node_modules/x/index.js': 'needle',
      '.git/HEAD': 'needle',
      'src/a.ts': 'needle',
    });
    const listed = (await call('list_files', { depth: 9 })).text;
    expect(listed).toContain('2 ignored folders not entered');
    expect(body(listed).map((line) => line.split(' ')[3])).toEqual(['.git', 'node_modules', 'src', 'src/a.ts']);
    expect((await call('list_files', { path: 'node_modules/x' })).text).toContain('node_modules/x/index.js');
    expect(body((await call('grep', { pattern: 'needle' })).text)).toEqual(['src/a.ts:1: needle']);
    const own = caller({ root, ignore: ['s*'] });
    expect(body((await own('grep', { pattern: 'needle' })).text)).toHaveLength(2);
  });

  it('list_files counts the entries that it left out, and lists an empty folder', async () => {
    const { call } = sandbox(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i + 10}`, ''])));
    const listed = (await call('list_files', { limit: 10 })).text;
    expect(listed.split('\n')).toHaveLength(11);
    expect(listed).toContain('30 entries; 20 more not listed');
    expect((await sandbox().call('list_files')).text).toBe('Folder . (empty)');
  });

  it('list_files shows each entry on one line, whatever its name', async () => {
    const odd = ['two\nlines', 'a b', 'quote"d', 'tab\t', '日本語', '😀', '\u202egnp.exe', 'back\\slash'];
    const { call, root } = sandbox(Object.fromEntries(odd.map((name) => [name, 'x'])));
    const lines = body((await call('list_files')).text);
    expect(lines).toHaveLength(odd.length);
    const names = lines.map((line) => line.split(' ').slice(3).join(' '));
    const read = names.map((name) => (name.startsWith('"') ? (JSON.parse(name) as string) : name));
    expect(new Set(read)).toEqual(new Set(odd));
    expect(lines.join('')).not.toContain('\u202e');
    for (const name of odd) expect((await call('read_file', { path: name })).text).toMatch(/\nx$/);
    expect(readdirSync(root)).toHaveLength(odd.length);
  });

  it('list_files counts a name that is not UTF-8, since its text would open no file', async () => {
    const { call, root } = sandbox({ ok: '' });
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), 'x');
    expect((await call('list_files')).text).toContain('1 unreadable');
  });
});

describe('read_file', () => {
  const numbered = Array.from({ length: 1000 }, (_, i) => `line ${i + 1}`).join('\n');

  it('read_file returns the requested part and says how to continue', async () => {
    const { call } = sandbox({ 'n.txt': numbered, 'small.txt': 'one\ntwo\n' });
    expect((await call('read_file', { path: 'small.txt' })).text).toBe(
      'File small.txt (8 bytes; lines 1 to 2; to the end)\none\ntwo\n',
    );
    const part = (await call('read_file', { path: 'n.txt', offset: 10, limit: 2 })).text;
    expect(part).toContain('lines 11 to 12; go on with offset 12)\nline 11\nline 12\n');
    const end = (await call('read_file', { path: 'n.txt', offset: 998, limit: 5 })).text;
    expect(end).toContain('lines 999 to 1000; to the end)\nline 999\nline 1000');
    expect((await call('read_file', { path: 'n.txt', offset: 5000 })).text).toContain('no such line');
    const bytes = (await call('read_file', { path: 'n.txt', unit: 'bytes', offset: 5, limit: 6 })).text;
    expect(bytes).toContain('bytes 5 to 11; go on with offset 11)\n1\nline');
    expect((await call('read_file', { path: 'absent' })).text).toContain('there is no such file');
  });

  it('read_file returns the whole file over several calls, in lines and in bytes', async () => {
    const { call } = sandbox({ 'n.txt': `${numbered}\n\n\nend` });
    for (const unit of ['lines', 'bytes']) {
      let whole = '';
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const { text } = await call('read_file', { path: 'n.txt', unit, offset, limit: 97 });
        whole += text.slice(text.indexOf('\n') + 1);
        const next: string | undefined = /go on with offset (\d+)\)/.exec(text)?.[1];
        offset = next === undefined ? undefined : Number(next);
      }
      expect(whole).toBe(`${numbered}\n\n\nend`);
    }
  });

  it('read_file bounds a huge file, a huge line and an empty file', async () => {
    const { call, root } = sandbox({
      'line.txt': 'x'.repeat(5_000_000),
      'empty.txt': '',
      'wide.txt': 'y'.repeat(9_000).concat('\n').repeat(3),
    });
    put(path.join(root, 'huge.txt'), 'start\n');
    truncateSync(path.join(root, 'huge.txt'), 3_000_000_000);
    const huge = await call('read_file', { path: 'huge.txt' });
    expect(huge.text).toContain('3000000000 bytes; binary; too large to digest');
    const line = (await call('read_file', { path: 'line.txt' })).text;
    expect(line).toContain('line 1, cut; go on with unit bytes, offset 12288');
    expect(line.length).toBeLessThan(13_000);
    expect((await call('read_file', { path: 'wide.txt' })).text).toContain('lines 1 to 1; go on with offset 1');
    expect((await call('read_file', { path: 'empty.txt' })).text).toBe(
      'File empty.txt (0 bytes; no lines; to the end)\n',
    );
  });

  it('read_file describes a binary file and decodes text that is not UTF-8', async () => {
    const binary = new Uint8Array([1, 0, 2]);
    const { call } = sandbox({ 'b.bin': binary, 'latin.txt': new Uint8Array([0x63, 0x61, 0x66, 0xe9, 10]) });
    expect((await call('read_file', { path: 'b.bin' })).text).toBe(`File b.bin (3 bytes; binary; ${sha256(binary)})`);
    expect((await call('read_file', { path: 'latin.txt' })).text).toContain('caf\ufffd\n');
  });

  it.skipIf(process.getuid?.() === 0)('read_file reports a file without read permission', async () => {
    const { call, root } = sandbox({ 'no.txt': 'x', 'folder/x.txt': 'x' });
    chmodSync(path.join(root, 'no.txt'), 0);
    chmodSync(path.join(root, 'folder'), 0);
    expect((await call('read_file', { path: 'no.txt' })).text).toContain('EACCES');
    expect((await call('grep', { pattern: 'x' })).text).toContain('1 could not be read');
    expect((await call('list_files', { depth: 3 })).text).toContain('1 unreadable');
    chmodSync(path.join(root, 'folder'), 0o755);
  });
});

describe('grep', () => {
  const files = {
    'a.ts': 'const x = 1 // TODO: tidy\r\n// todo later\nfine',
    'b/c.md': '# TODO\nNot implemented yet.\n',
    'bin.dat': new Uint8Array([0, 84, 79, 68, 79]),
  };

  it('grep finds literal text, with and without case', async () => {
    const { call } = sandbox(files);
    expect((await call('grep', { pattern: 'TODO' })).text.split('\n')).toEqual([
      '2 matches in 2 files (2 files searched; 1 binary skipped)',
      'a.ts:1: const x = 1 // TODO: tidy',
      'b/c.md:1: # TODO',
    ]);
    expect(body((await call('grep', { pattern: 'TODO', ignore_case: true })).text)).toHaveLength(3);
    expect(body((await call('grep', { pattern: '.*' })).text)).toHaveLength(0);
    expect(body((await call('grep', { pattern: 'x = 1 // (', ignore_case: true })).text)).toHaveLength(0);
  });

  it('grep finds by regular expression, in one file, and by name', async () => {
    const { call } = sandbox(files);
    const matches = async (args: Record<string, unknown>) => body((await call('grep', { regex: true, ...args })).text);
    expect(await matches({ pattern: '^#|implemented\\b' })).toEqual([
      'b/c.md:1: # TODO',
      'b/c.md:2: Not implemented yet.',
    ]);
    expect(await matches({ pattern: 'todo\\:', ignore_case: true })).toHaveLength(1);
    expect(await matches({ pattern: '\\p{Lu}{4}' })).toHaveLength(2);
    expect(await matches({ pattern: 'TODO', path: 'a.ts' })).toHaveLength(1);
    expect(await matches({ pattern: 'TODO', name: '*.md' })).toEqual(['b/c.md:1: # TODO']);
    expect(await call('grep', { regex: true, pattern: '(' })).toMatchObject({ refused: true });
  });

  it('grep stops a pattern that would take years', async () => {
    const { call } = sandbox({ 'evil.txt': `${'a'.repeat(60)}!`, 'later.txt': 'b' });
    const { text } = await call('grep', { regex: true, pattern: '^(a+)+$' });
    expect(text).toContain('the pattern takes too long');
    expect((await call('grep', { regex: true, pattern: 'b' })).text).toContain('later.txt:1: b');
  });

  it('grep bounds matches and lines, and skips very large files', async () => {
    const { call } = sandbox({
      'many.txt': 'hit\n'.repeat(900),
      'long.txt': `hit${'x'.repeat(9_999)}`,
      'big.txt': 'hit\n'.repeat(600_000),
    });
    const { text } = await call('grep', { pattern: 'hit', limit: 20 });
    expect(text.split('\n')).toHaveLength(21);
    expect(text).toContain('901 matches in 2 files');
    expect(text).toContain('1 above 2097152 bytes skipped');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(250);
  });
});

describe('write_file', () => {
  it('write_file reports the content before and after', async () => {
    const { call, root } = sandbox({ 'old.txt': 'old' });
    expect((await call('write_file', { path: 'old.txt', text: 'new' })).text).toBe(
      `Wrote old.txt (3 bytes; before ${sha256('old')}; after ${sha256('new')})`,
    );
    expect((await call('write_file', { path: 'deep/er/new.txt', text: 'é' })).text).toContain('2 bytes; before absent');
    expect(readFileSync(path.join(root, 'deep/er/new.txt'), 'utf8')).toBe('é');
    expect(readdirSync(root).sort()).toEqual(['deep', 'old.txt']);
  });

  it('write_file keeps the permissions of the file that it replaces', async () => {
    const { call, root } = sandbox({ 'run.sh': 'old' });
    chmodSync(path.join(root, 'run.sh'), 0o750);
    await call('write_file', { path: 'run.sh', text: 'new' });
    expect(statSync(path.join(root, 'run.sh')).mode & 0o777).toBe(0o750);
  });

  it('write_file shows readers the old or the new content and never a part, even with concurrent writers [TOOL-27]', async () => {
    const { call, root } = sandbox({ 'f.txt': 'a'.repeat(300_000) });
    const seen = new Set<string>();
    const writes = ['b', 'c', 'd', 'e'].map((letter) =>
      call('write_file', { path: 'f.txt', text: letter.repeat(300_000) }),
    );
    let writing = true;
    const all = Promise.all(writes).finally(() => {
      writing = false;
    });
    while (writing) {
      const content = readFileSync(path.join(root, 'f.txt'), 'utf8');
      seen.add(content.length === 300_000 && /^(.)\1*$/.test(content) ? 'whole' : 'part');
      await new Promise((resolve) => setImmediate(resolve));
    }
    await all;
    expect([...seen]).toEqual(['whole']);
    expect(readdirSync(root)).toEqual(['f.txt']);
  });

  it('write_file leaves no file after a failure, and a listing hides what a crash left', async () => {
    const { call, root } = sandbox({ '.reprise-1234.tmp': 'left by a crash' });
    mkdirSync(path.join(root, 'folder'));
    expect((await call('write_file', { path: 'folder', text: 'x' })).refused).toBe(true);
    expect((await call('write_file', { path: 'n'.repeat(300), text: 'x' })).text).toContain('too long');
    expect(body((await call('list_files')).text)).toHaveLength(1);
    expect(readdirSync(root).sort()).toEqual(['.reprise-1234.tmp', 'folder']);
  });

  it('write_file refuses a path that no receipt could record, before it writes [TOOL-37]', async () => {
    const { call, root } = sandbox({});
    const { text } = await call('write_file', { path: `${'d/'.repeat(600)}f.txt`, text: 'x' });
    expect(text).toContain('the path is too long');
    expect(readdirSync(root)).toEqual([]);
  });

  it('write_file is absent from a read-only workspace; reads may be repeated, a write may not', () => {
    const delivery = (options: object) =>
      Object.fromEntries(workspace({ root: '.', ...options }).map(({ entry }) => [entry.name, entry.guarantee]));
    const readers = { list_files: 'idempotent', read_file: 'idempotent', grep: 'idempotent', glob: 'idempotent' };
    expect(delivery({ readOnly: true })).toEqual(readers);
    expect(delivery({})).toEqual({ ...readers, write_file: 'at_most_once', edit_file: 'at_most_once' });
  });

  it('write_file stores the whole earlier content and names the change in its receipt [TOOL-27]', async () => {
    const large = 'x'.repeat(300_000);
    const { call } = sandbox({ 'a/f.txt': large });
    const changed = await call('write_file', { path: './a/f.txt', text: 'new' });
    const [change] = changed.receipt.changes ?? [];
    expect(change?.path).toBe('a/f.txt');
    expect(new TextDecoder().decode(await changed.content.get(change?.before_ref as never))).toBe(large);
    expect(new TextDecoder().decode(await changed.content.get(change?.after_ref as never))).toBe('new');
    const made = await call('write_file', { path: 'b/g.txt', text: '' });
    expect(made.receipt.changes).toMatchObject([{ path: 'b/g.txt', before_ref: null }]);
    expect((await call('read_file', { path: 'b/g.txt' })).receipt.changes).toBeUndefined();
  });

  it('write_file uses the file as its resource, however its path is spelled', () => {
    const [write, edit] = workspace({ root: '.' }).filter(({ resource }) => resource !== undefined);
    const resources = ['a/f', './a/f', 'a//f', 'a/b/../f'].map((path) => write?.resource?.({ path } as never));
    expect(new Set([...resources, edit?.resource?.({ path: 'a/f' } as never)])).toEqual(new Set(['file/a/f']));
  });
});

describe('edit_file', () => {
  const text = 'one\ntwo\none\n';

  it('edit_file replaces a text that occurs once, and leaves every other byte unchanged', async () => {
    const { call, root } = sandbox({ 'f.txt': `\ufeff${text}` });
    const edited = await call('edit_file', { path: 'f.txt', old: 'two\n', new: '$& zwei\n' });
    expect(edited.text).toMatch(/^Edited f\.txt \(replaced once; 19 bytes; before sha256:[0-9a-f]{64}; after sha256:/);
    expect(readFileSync(path.join(root, 'f.txt'), 'utf8')).toBe('\ufeffone\n$& zwei\none\n');
    expect(edited.receipt.changes).toMatchObject([{ path: 'f.txt' }]);
  });

  it('edit_file replaces every occurrence only on request', async () => {
    const { call, root } = sandbox({ 'f.txt': text });
    const refused = await call('edit_file', { path: 'f.txt', old: 'one', new: 'eins' });
    expect([refused.refused, refused.text]).toEqual([true, expect.stringContaining('2 times')]);
    expect((await call('edit_file', { path: 'f.txt', old: 'one', new: 'eins', all: true })).text).toContain('2 times');
    expect(readFileSync(path.join(root, 'f.txt'), 'utf8')).toBe('eins\ntwo\neins\n');
  });

  it('edit_file refuses an ambiguous edit, and changes nothing', async () => {
    const { call, root } = sandbox({ 'dos.txt': 'a\r\nb\r\n', bin: new Uint8Array([0xff, 0x61]), 'd/x': '' });
    const refusals: [Record<string, unknown>, RegExp][] = [
      [{ path: 'dos.txt', old: 'c' }, /does not occur in the file: /],
      [{ path: 'bin', old: 'a' }, /not UTF-8/],
      [{ path: 'no/where', old: 'a' }, /no such file/],
      [{ path: 'd', old: 'a' }, /it is a folder/],
      [{ path: '../out', old: 'a' }, /must not contain/],
      [{ path: '.env', old: 'a' }, /secrets/],
    ];
    for (const [args, why] of refusals) {
      const answer = await call('edit_file', { ...args, new: 'z' });
      expect([args, answer.refused, answer.text]).toEqual([args, true, expect.stringMatching(why)]);
      expect(answer.receipt.changes).toBeUndefined();
    }
    expect(readdirSync(root).sort()).toEqual(['bin', 'd', 'dos.txt']);
  });
});

describe('line ends and encodings', () => {
  it.each([
    ['a text with LF is found in lines that end in CR LF', 'a\r\nb\r\n', 'a\nb', 'A\nB', 'A\r\nB\r\n'],
    ['a text over mixed line ends keeps each of them', 'a\nb\r\nc\n', 'a\nb\nc', 'A\nB\nC', 'A\nB\r\nC\n'],
    ['a text with CR LF is found over mixed line ends', 'a\nb\r\nc\n', 'a\r\nb\r\nc', 'A', 'A\n'],
    ['new lines in a file of CR LF end in CR LF', 'one\r\ntwo\r\n', 'two', 'x\ny', 'one\r\nx\r\ny\r\n'],
    ['new lines get the line end of their place', 'a\nb\r\nc\n', 'c', 'x\ny', 'a\nb\r\nx\ny\n'],
    ['line ends that are meant are changed', 'a\r\nb\r\n', 'a\r\nb', 'a\nb', 'a\nb\r\n'],
    ['a last line without an end stays so', 'a\r\nb', 'b', 'x\ny', 'a\r\nx\r\ny'],
  ])('%s [TOOL-64]', async (_what, before, old, put, after) => {
    const { call, root } = sandbox({ 'f.txt': before });
    const { refused, text } = await call('edit_file', { path: 'f.txt', old, new: put });
    expect([refused, text.slice(0, 6)]).toEqual([false, 'Edited']);
    expect(readFileSync(path.join(root, 'f.txt'), 'utf8')).toBe(after);
  });

  it.each(['utf-16le', 'utf-16be'] as const)(
    'a file in %s is read and searched as text [TOOL-63]',
    async (encoding) => {
      const bytes = Buffer.from('\ufeffErste Zeile\r\nzweite: größer\r\n', 'utf16le');
      const { call } = sandbox({ 'f.txt': encoding === 'utf-16le' ? bytes : bytes.swap16() });
      expect((await call('read_file', { path: 'f.txt', offset: 1 })).text).toMatch(/UTF-16.*\nzweite: größer/s);
      expect((await call('grep', { pattern: 'größer' })).text).toContain('f.txt:2: zweite: größer');
    },
  );

  it('a file with a NUL among its text is read and searched, and the NUL shown as a replacement [TOOL-63]', async () => {
    const { call } = sandbox({ 'log.txt': 'line 1\nodd \0 byte\nERROR in line 3\n' });
    expect((await call('read_file', { path: 'log.txt' })).text).toContain('odd \ufffd byte\nERROR in line 3');
    expect((await call('grep', { pattern: 'ERROR' })).text).toContain('log.txt:3: ERROR in line 3');
  });

  it.each([
    ['utf-16le', '\ufeff'],
    ['utf-16be', '\ufeff'],
    ['utf-16le', ''],
    ['utf-16be', ''],
  ] as const)(
    'an edit of a file in %s with the mark "%s" keeps its encoding, and every other byte [TOOL-67]',
    async (encoding, mark) => {
      const written = (text: string) => {
        const bytes = Buffer.from(mark + text, 'utf16le');
        return encoding === 'utf-16le' ? bytes : bytes.swap16();
      };
      const { call, root } = sandbox({ 'f.txt': written('Erste Zeile\r\nzweite: größer 🐙\r\n') });
      const edit = { path: 'f.txt', old: 'zweite: größer', new: 'dritte\nvierte' };
      expect((await call('edit_file', edit)).refused).toBe(false);
      expect(readFileSync(path.join(root, 'f.txt'))).toEqual(written('Erste Zeile\r\ndritte\r\nvierte 🐙\r\n'));
    },
  );

  it('an edit of a file in no encoding that can be written back is refused, and changes nothing [TOOL-67]', async () => {
    const odd = {
      'latin.txt': Buffer.from('gr\xf6\xdfer', 'latin1'),
      'half.txt': Buffer.from('\ufeffab\ud800', 'utf16le'),
    };
    const { call, root } = sandbox(odd);
    for (const [name, bytes] of Object.entries(odd)) {
      const { refused, text } = await call('edit_file', { path: name, old: 'r', new: 'x' });
      expect([refused, text]).toEqual([true, expect.stringContaining('not UTF-8 text, and not UTF-16')]);
      expect(readFileSync(path.join(root, name))).toEqual(bytes);
    }
  });

  it('a search names the files that it passes over, and counts lines that it searches in part [TOOL-68]', async () => {
    const { call } = sandbox({
      'a.png': Buffer.from('\x89PNG\r\n\x1a\n\0\0\0x', 'latin1'),
      'b.txt': `${'x'.repeat(30_000)}needle`,
    });
    const text = (await call('grep', { pattern: 'needl[e]', regex: true })).text;
    expect(text).toContain('1 binary skipped; not searched: a.png');
    expect(text).toContain('1 lines searched up to character 20000');
    expect((await call('grep', { pattern: 'needle' })).text).toContain('b.txt:1: xxx');
  });

  it(`pieces of a file that are read in bytes hold whole characters, and all of them (seed ${SEED}) [TOOL-69]`, async () => {
    const text = fc
      .array(fc.constantFrom('a', 'é', '漢', '🐙', '\n'), { minLength: 1, maxLength: 40 })
      .map((all) => all.join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), fc.nat(160), async (whole, limit, from) => {
        const { call } = sandbox({ 'f.txt': whole });
        const read = async (offset: number) => {
          const [heading = '', ...rest] = (
            await call('read_file', { path: 'f.txt', unit: 'bytes', offset, limit })
          ).text.split('\n');
          return { part: rest.join('\n'), next: /go on with offset (\d+)/.exec(heading)?.[1] };
        };
        let joined = '';
        for (let next: string | undefined = '0'; next !== undefined; ) {
          const { part, next: following }: Awaited<ReturnType<typeof read>> = await read(Number(next));
          expect(part).not.toContain('\ufffd');
          joined += part;
          next = following;
        }
        expect(joined).toBe(whole);
        expect((await read(from)).part).not.toContain('\ufffd');
      }),
      { seed: SEED, numRuns: 40 / stepOf(4) },
    );
  });

  it('a line that is cut is cut between characters, and goes on there [TOOL-69]', async () => {
    const { call } = sandbox({ 'f.txt': `a${'漢'.repeat(20_000)}` });
    const [heading = '', cut = ''] = (await call('read_file', { path: 'f.txt' })).text.split('\n');
    const offset = Number(/offset (\d+)/.exec(heading)?.[1]);
    expect([cut.includes('\ufffd'), Buffer.byteLength(cut)]).toEqual([false, offset]);
    expect((await call('read_file', { path: 'f.txt', unit: 'bytes', offset })).text).toMatch(/\n漢+$/);
  });
});

describe('glob', () => {
  const files = { 'a.ts': '', 'src/b.ts': '', 'src/deep/c.tsx': '', 'src/deep/d.md': '', 'node_modules/x/e.ts': '' };

  it.each([
    ['*.ts', ['a.ts']],
    ['**/*.ts', ['a.ts', 'src/b.ts']],
    ['src/**', ['src/b.ts', 'src/deep/c.tsx', 'src/deep/d.md']],
    ['**/*.{ts,tsx}', ['a.ts', 'src/b.ts', 'src/deep/c.tsx']],
    ['{src,lib}/{*,deep/*}.{ts,md}', ['src/b.ts', 'src/deep/d.md']],
    ['**/deep/**/c.*', ['src/deep/c.tsx']],
    ['./src/*', ['src/b.ts']],
    ['x', []],
  ])('the pattern %s finds %j', async (pattern, found) => {
    const { call } = sandbox(files);
    expect(body((await call('glob', { pattern })).text)).toEqual(found);
  });

  it('glob starts at the given folder, counts what it left out, and refuses an invalid pattern', async () => {
    const { call } = sandbox(files);
    expect(body((await call('glob', { pattern: '*.tsx', path: 'src/deep' })).text)).toEqual(['src/deep/c.tsx']);
    expect((await call('glob', { pattern: '**', limit: 1 })).text).toMatch(
      /^4 files \(1 ignored .*; the first 1 are shown\)\na\.ts$/,
    );
    for (const pattern of ['{a', 'a}', '{a,b}'.repeat(7)]) {
      expect((await call('glob', { pattern })).refused).toBe(true);
    }
  });

  it('glob answers at once to a pattern that is made to be slow', async () => {
    const { call } = sandbox({ ['a'.repeat(200)]: '', [`${'d/'.repeat(20)}f`]: '' });
    const cost = await cpuMsOf(async () => {
      await call('glob', { pattern: `${'*a'.repeat(200)}b` });
      await call('glob', { pattern: `${'**/'.repeat(100)}x` });
    });
    expect(cost).toBeLessThan(5_000);
  });
});
