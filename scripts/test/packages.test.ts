/** The workspaces and the one package that is published: their common parts, and tests of the check of its tarball. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contentProblems, unpacked } from '../lib/tarball-content.mjs';
import { lintProblems, typeProblems } from '../lib/tarball-lint.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const folders = readdirSync(path.join(ROOT, 'packages')).map((name) => `packages/${name}`);

interface Manifest {
  readonly [field: string]: unknown;
  readonly repository: { readonly url: string };
  readonly homepage: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}
const manifestOf = (folder: string) => JSON.parse(read(path.join(folder, 'package.json'))) as Manifest;

describe('workspaces', () => {
  const root = manifestOf('.');
  const web = root.homepage.replace('#readme', '');

  it.each(folders)('%s names the repository of the root package.json, its license and its folder', (folder) => {
    expect(manifestOf(folder)).toMatchObject({
      license: root.license,
      homepage: `${web}/tree/main/${folder}#readme`,
      repository: { ...root.repository, directory: folder },
      bugs: root.bugs,
      private: true,
      version: manifestOf('packages/reprise').version,
      keywords: expect.arrayContaining(['reprise', 'agents']),
    });
    expect(read(`${folder}/LICENSE`)).toBe(read('LICENSE'));
  });

  it.each(folders)('%s has a README whose links lead into the repository', (folder) => {
    const readme = read(`${folder}/README.md`);
    for (const [, target = ''] of readme.matchAll(/\]\(([^)]*)\)/g)) {
      const [, file] = target.split(`${web}/blob/main/`);
      if (file === undefined) expect(target).toMatch(/^https:\/\/www\.npmjs\.com\//);
      else expect(() => read(file), target).not.toThrow();
    }
  });

  it.each(folders)('%s leaves it to its user to install zod, the test libraries and native binaries', (folder) => {
    const { dependencies = {} } = manifestOf(folder);
    const forced = ['zod', 'libsql', 'esbuild', 'vitest', 'fast-check', '@modelcontextprotocol/client'];
    expect(Object.keys(dependencies).filter((name) => forced.includes(name))).toEqual([]);
  });
});

describe('the check of tarballs', () => {
  const manifest = {
    name: 'planted',
    version: '1.0.0',
    type: 'module',
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
  };
  const sound = {
    'package.json': JSON.stringify(manifest),
    'index.d.ts': 'export const a: 1;',
    'index.js': 'export const a = 1;',
  };
  const lint = async (files: Record<string, string>) => {
    const bytes = tarballOf(files);
    return [...(await lintProblems({ manifest, bytes })), ...(await typeProblems({ bytes }))].join('\n');
  };

  it('the check reads the tarballs that npm packs', () => {
    const files = { 'a.txt': 'a', 'b/c.txt': 'x'.repeat(600) };
    expect([...unpacked(tarballOf(files))].map(([name, bytes]) => [name, String(bytes)])).toEqual(
      Object.entries(files),
    );
  });

  it('the check names a missing README, license or field, and each file that a user does not need', () => {
    const needless = {
      'dist/index.js.map': '{}',
      'dist/_/kernel/src/index.ts': '',
      'dist/a.js': '//# sourceMappingURL=a',
      'w.db': '',
    };
    const found = contentProblems(unpacked(tarballOf({ ...sound, ...needless }))).join('\n');
    for (const lack of ['README.md', 'LICENSE', 'no homepage', ...Object.keys(needless)]) expect(found).toContain(lack);
  });

  it('the check finds an entry that is not in the tarball, by publint, and types that do not resolve, by attw', async () => {
    const { 'index.js': _, ...lacking } = sound;
    expect(await lint(lacking)).toContain('publint: ');
    const { 'index.d.ts': __, ...untyped } = sound;
    expect(await lint({ ...untyped, 'other.d.ts': 'export {};' })).toContain('attw: ');
  });
});

/** A tarball as npm packs it: every file below `package/`. */
function tarballOf(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = Buffer.alloc(512);
    header.write(`package/${name}`, 0);
    header.write('0000644\0', 100);
    header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')} `, 124);
    header.write('        ', 148);
    header.write('0', 156);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
    body.write(text);
    return [header, body];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}
