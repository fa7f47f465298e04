/** Code that imports while it runs: refused by its text, and should that ever miss one, ended before it is answered. */
import { spawn } from 'node:child_process';
import vm from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pieceOf } from '../src/child/frames.js';
import { CODE, ENGINE, IMPORTED } from '../src/child/pieces.js';
import { CODE_MARK, readCode } from '../src/code-text.js';
import { withholding } from '../src/flags.js';
import { childText, engineText } from '../src/texts-from-sources.js';
import { forged, refusal, replayAlone, worldWith } from './worlds.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);
const RUNS = Number(process.env.REPRISE_RUNS ?? 4_000);

const isRefused = (text: string): boolean => {
  try {
    readCode(new TextEncoder().encode(`${CODE_MARK}\n${text}`));
    return false;
  } catch {
    return true;
  }
};

/** Whether the engine parses a text as an import. */
async function imports(text: string): Promise<boolean> {
  let body: () => unknown;
  try {
    body = vm.compileFunction(`'use strict';return [${text}\n][0]`, []) as () => unknown;
  } catch {
    return false;
  }
  try {
    const answer = body();
    if (!(answer instanceof Promise)) return false;
    await answer;
    return true;
  } catch (error) {
    return String((error as { code?: unknown }).code).startsWith('ERR_VM_DYNAMIC_IMPORT');
  }
}

/** Texts between the keyword and the specifier, and texts that only look so. */
const between = fc
  .array(
    fc.constantFrom(
      ...[
        ' ',
        '\t',
        '\v',
        '\f',
        '\n',
        '\r',
        '\r\n',
        '\u00a0',
        '\ufeff',
        '\u2028',
        '\u2029',
        '\u3000',
        '\u180e',
        '\u200b',
      ],
      ...[
        '/**/',
        '/* a */',
        '/*\n*/',
        '// a\n',
        '//\u2028',
        '<!-- a\n',
        '<!--',
        '--> a\n',
        '\n--> a\n',
        '\n/**/ --> a\n',
        '-->',
      ],
      ...['/*\n*/-->\n', '#! a\n', '\\u0020', '..', '.meta', '<!', '--', '*', '\0'],
    ),
    { maxLength: 4 },
  )
  .map((pieces) => pieces.join(''));
const keyword = fc.constantFrom(
  'import',
  'import',
  'import',
  'im\\u0070ort',
  'Import',
  'ximport',
  '$import',
  'import2',
);

describe('code that imports while it runs', () => {
  it(`a dynamic import is refused by its text, with any characters between keyword and bracket (seed ${SEED}) [RPL-24]`, async () => {
    let asked = 0;
    const property = fc.asyncProperty(keyword, between, async (word, gap) => {
      const text = `${word}${gap}("node:fs")`;
      if (!(await imports(text))) return;
      asked += 1;
      expect(isRefused(text), JSON.stringify(text)).toBe(true);
    });
    const found = await fc.check(property, { seed: SEED, numRuns: RUNS });
    if (found.failed)
      throw new Error(
        `rerun: REPRISE_SEED=${SEED} npx vitest run packages/sandbox/test/imports.test.ts\n${fc.stringify(found.counterexample)}`,
      );
    expect(asked).toBeGreaterThan(RUNS / 10); // without enough real imports this would be no test
  });

  it('mutant: a scan that ignores HTML-like comments lets a dynamic import pass', async () => {
    const forgetful = /\bimport\s*(?:[(.]|\/[/*]|<!--)/;
    const text = 'import\n--> c\n("node:fs")';
    expect([await imports(text), forgetful.test(text), isRefused(text)]).toEqual([true, false, true]);
  });

  it('a dynamic import behind an HTML close comment is refused [RPL-24]', async () => {
    const error = await refusal(replayAlone(await worldWith(forged('try { import\n--> c\n("node:fs") } catch {}'))));
    expect([error.code, error.what]).toEqual(['code_failed', 'pure code may not import while it runs']);
  });

  it('a dynamic import that passes the scan ends its process before it is answered [RPL-24]', async () => {
    const run = async (code: string) => {
      const child = spawn(process.execPath, [...withholding(64), '--eval', childText], { env: {}, stdio: 'pipe' });
      let said = '';
      child.stdout.on('data', (bytes: Buffer) => {
        said += bytes.toString('latin1');
      });
      child.stdin.on('error', () => undefined);
      child.stdin.write(pieceOf(ENGINE, Buffer.from(engineText)));
      child.stdin.write(pieceOf(CODE, Buffer.from(code)));
      if (!code.includes('import')) child.stdin.end();
      return { how: await new Promise((resolve) => child.on('close', resolve)), said };
    };
    const after = "import('node:fs'); throw new Error('went on');";
    expect(await run(after)).toEqual({ how: IMPORTED, said: '' });
    expect(await run(`try { ${after} } catch {} finally { for (;;) {} }`)).toEqual({ how: IMPORTED, said: '' });
    expect((await run("throw new Error('went on');")).said).toContain('went on');
  });
});
