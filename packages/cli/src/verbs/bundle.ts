/** `reprise bundle`: bundles the pure code of an app, and checks that a sandbox can load it. */
import { writeFileSync } from 'node:fs';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { portableSha256, toHex } from '@reprise/kernel/codec';
import { bundlePureCode, pureCode } from '@reprise/sandbox';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';

interface BundleArguments {
  readonly out: string;
  readonly conditions?: readonly string[];
  readonly json?: true;
}

/** Bundles the app of a module and writes it, once a sandbox has loaded it. */
export async function bundle(io: Io, module: string, options: BundleArguments): Promise<void> {
  const { out, conditions = [] } = options;
  const bytes = await bundlePureCode(module, { conditions });
  const names = await namesIn(bytes, module);
  write(out, bytes);
  const digest = `sha256:${toHex(portableSha256(bytes))}`;
  const lines = [`${out}: ${bytes.length} bytes, ${digest}`, `defines ${names.join(', ')}`];
  const text = `${lines.map(escapeLine).join('\n')}\n`;
  await io.out.write(
    options.json === true ? `${toJson({ ok: true, out, bytes: bytes.length, digest, defines: names })}\n` : text,
  );
}

/**
 * The names of the definitions in bundled code.
 *
 * @throws RepriseError `invalid_argument` when a sandbox cannot load the code
 */
async function namesIn(bytes: Uint8Array, module: string): Promise<string[]> {
  try {
    const { reducers, plans, effects } = await pureCode(bytes).pins();
    return [...reducers, ...plans, ...effects].map(({ name }) => name);
  } catch (error) {
    if (!isRepriseError(error, 'code_failed')) throw error;
    throw new RepriseError('invalid_argument', 'a sandbox cannot load the bundled code', {
      where: module,
      actual: error.what,
      hint: 'The module must export the result of defineApp, as the default export or under the name app. While it loads it may use the language and the kernel only.',
    });
  }
}

function write(out: string, bytes: Uint8Array): void {
  try {
    writeFileSync(out, bytes);
  } catch (cause) {
    throw new RepriseError('invalid_argument', 'the bundled code cannot be written', { where: out, cause });
  }
}
