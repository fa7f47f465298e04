/** Functions that count their calls: put into the sources while they are bundled. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';
import { ROOT } from '../../lib/root.mjs';

/** Passes over values, and the functions each call of which is one; a recursive function counts the values in it. */
export const PASSES: Readonly<Record<string, readonly (readonly [file: string, functions: readonly string[]])[]>> = {
  encodes: [
    [
      'packages/kernel/src/pure/codec/encode.ts',
      ['encode', 'encodeEach', 'encodeKernel', 'encodeItems', 'encodeScopeLinks'],
    ],
  ],
  decodes: [['packages/kernel/src/pure/codec/decode.ts', ['decode', 'decodeScope', 'decodeScopeStart']]],
  checks: [['packages/kernel/src/pure/schema/check.ts', ['check', 'checkNext']]],
  'fitted forms': [['packages/kernel/src/pure/schema/fitted-form.ts', ['fittedForm']]],
  'normal forms': [['packages/kernel/src/pure/codec/normal.ts', ['normalValue', 'nextValue']]],
  'copied values': [['packages/kernel/src/pure/codec/copy.ts', ['copyValue', 'copyNormal']]],
};

/** Puts a counter into each function of {@link PASSES}. @throws Error for a function that is not there */
export function counting(): Plugin {
  const byFile = new Map<string, Map<string, string>>();
  for (const [pass, places] of Object.entries(PASSES)) {
    for (const [file, functions] of places) {
      const own = byFile.get(file) ?? new Map<string, string>();
      byFile.set(file, own);
      for (const name of functions) own.set(name, pass);
    }
  }
  return {
    name: 'counting',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, async ({ path: loaded }) => {
        const file = path.relative(ROOT, loaded).replaceAll(path.sep, '/');
        const wanted = byFile.get(file);
        if (wanted === undefined) return undefined;
        return { contents: counted(await readFile(loaded, 'utf8'), file, wanted), loader: 'ts' };
      }),
  };
}

/** A function begins in a line of its own, which ends with its brace. */
function counted(text: string, file: string, wanted: ReadonlyMap<string, string>): string {
  let made = text;
  for (const [name, pass] of wanted) {
    const parts = made.split(new RegExp(`^(export function ${name}\\(.*\\{)$`, 'm'));
    const [before, head, after] = parts;
    if (parts.length !== 3) throw new Error(`${file} has no function ${name} to count`);
    const at = `globalThis.passes[${JSON.stringify(pass)}]`;
    made = `${before}${head} ${at} = (${at} ?? 0) + 1;${after}`;
  }
  return made;
}
