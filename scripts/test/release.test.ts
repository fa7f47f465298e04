/** The published package: where names of workspaces lead in it, what it depends on, and the page of a release. */
import { describe, expect, it } from 'vitest';
import { nestedManifest, publishedManifest } from '../release/manifest.mjs';
import { releasePage, sectionOf } from '../release/page.mjs';
import { namesLeft, withRelativePaths } from '../release/specifiers.mjs';

const FILES = new Map([
  ['@reprise/kernel', 'dist/_/kernel/dist/index.js'],
  ['@reprise/kernel/define', 'dist/_/kernel/dist/pure/define/index.js'],
]);
const rewritten = (text: string, file = 'dist/_/agent/dist/a/b.js') => withRelativePaths(file, text, FILES);

describe('names of workspaces in built files', () => {
  it.each([
    ['a statement', `import { a } from "@reprise/kernel";`, `import { a } from "../../../kernel/dist/index.js";`],
    [
      'a re-export',
      `export * from '@reprise/kernel/define'`,
      `export * from '../../../kernel/dist/pure/define/index.js'`,
    ],
    ['a call of import()', `await import("@reprise/kernel")`, `await import("../../../kernel/dist/index.js")`],
    ['a type', `type A = import('@reprise/kernel').A;`, `type A = import('../../../kernel/dist/index.js').A;`],
    ['an import for its effects', `import '@reprise/kernel';`, `import '../../../kernel/dist/index.js';`],
    [
      'an added declaration',
      `declare module '@reprise/kernel' {}`,
      `declare module '../../../kernel/dist/index.js' {}`,
    ],
  ])('become relative paths in %s', (_, text, expected) => {
    expect(rewritten(text)).toBe(expected);
    expect(namesLeft('a.js', expected)).toEqual([]);
  });

  it('names of workspaces become a path below the same folder from the entries of the package', () => {
    expect(rewritten(`import '@reprise/kernel';`, 'dist/kernel.js')).toBe(`import './_/kernel/dist/index.js';`);
  });

  it('names of workspaces stay in texts, comments and regular expressions, and other names stay everywhere', () => {
    const text = 'const a = "@reprise/kernel"; // import "@reprise/kernel"\nimport "zod"; /"@reprise/.test(`\'`);';
    expect(rewritten(text)).toBe(text);
  });

  it('names of workspaces are refused where they lead to no entry of a workspace, and found where a module is looked up at run time', () => {
    expect(() => rewritten(`import '@reprise/nowhere';`)).toThrow('dist/_/agent/dist/a/b.js imports @reprise/nowhere');
    const looked = `createRequire(import.meta.url).resolve("@reprise/kernel/package.json")`;
    expect(namesLeft('a.js', rewritten(looked))).toEqual(['a.js still names @reprise/kernel/package.json']);
  });
});

const workspace = (name: string, more: object) => ({
  name,
  version: '1.2.3',
  type: 'module',
  sideEffects: false,
  exports: { '.': { '@reprise/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' } },
  ...more,
});
const PEERS = { zod: '^4.6.7', libsql: '^0.5.29', pg: '^8.16.0', esbuild: '>=0.25.0', 'fast-check': '^4.11.0' };
const MCP = { '@modelcontextprotocol/client': '^2.4.0', '@modelcontextprotocol/server': '^2.4.0' };
const main = workspace('reprise', {
  private: true,
  engines: { node: '>=20.19' },
  dependencies: { '@reprise/kernel': '1.2.3' },
});
const kernel = workspace('@reprise/kernel', {
  dependencies: { immer: '11.2.13' },
  peerDependencies: { ...PEERS, ...MCP },
});

describe('the manifest of the published package', () => {
  it('the manifest names the libraries of every workspace and no workspace, leaves the optional ones to the user, and leads to built files only', () => {
    const manifest = publishedManifest(main, [main, kernel]);
    expect(manifest).toMatchObject({
      dependencies: { immer: '11.2.13' },
      peerDependencies: { ...PEERS, ...MCP },
      peerDependenciesMeta: { libsql: { optional: true }, 'fast-check': { optional: true } },
      exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
      publishConfig: { access: 'public', provenance: true },
    });
    expect(manifest.peerDependenciesMeta).not.toHaveProperty('zod');
    expect(JSON.stringify(manifest)).not.toMatch(/@reprise\/|"private"/);
  });

  it('the manifest refuses two workspaces that need two versions of a library', () => {
    const other = workspace('@reprise/agent', { dependencies: { immer: '10.0.0' } });
    expect(() => publishedManifest(main, [main, kernel, other])).toThrow('@reprise/agent needs immer 10.0.0');
  });

  it('the manifest of a nested folder keeps what the folder of a workspace finds in itself', () => {
    const imports = { '#texts': { '@reprise/source': './src/t.ts', default: './dist/t.js' } };
    expect(nestedManifest(workspace('@reprise/sandbox', { imports }))).toMatchObject({
      name: '@reprise/sandbox',
      private: true,
      imports: { '#texts': { default: './dist/t.js' } },
    });
  });
});

describe('the page of a release', () => {
  const changes = '# Changelog\n\n## Unreleased\n\nNew.\n\n## 1.0.0\n\nOld.\n';

  it('the page has the size and the integrity of the tarball, the entries, and what changed', () => {
    const manifest = publishedManifest(main, [main, kernel]);
    const page = releasePage({
      manifest,
      changes,
      bytes: Buffer.alloc(9),
      size: 20,
      files: new Map(),
      integrity: 'sha512-x',
    });
    for (const part of ['# reprise 1.2.3', '9 bytes', '`sha512-x`', '`reprise`', 'immer', 'New.'])
      expect(page).toContain(part);
    expect(page).not.toContain('Old.');
  });

  it('the page takes the section of its version, and refuses a change log without one', () => {
    expect(sectionOf(changes, '1.0.0')).toBe('## 1.0.0\n\nOld.');
    expect(() => sectionOf('# Changelog\n', '1.0.0')).toThrow('CHANGELOG.md has no section for 1.0.0');
  });
});
