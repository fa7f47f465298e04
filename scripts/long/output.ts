/**
 * Tools that print much, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/output.ts [--bytes 1073741824]
 *
 * One call prints a gibibyte. The output is stored in full, the model gets its part, and memory stays constant; the
 * time is compared with that of hashing the same bytes.
 */
import { parseArgs } from 'node:util';
import { callLoudTool, faultsOf, wholeLines } from '../../packages/tools/test/output/loud-tool.js';

/** Room for the garbage collector's habits; a tenth of the output. */
const MEMORY_BYTES_MAX = 100 * 1024 * 1024;

const { values } = parseArgs({ options: { bytes: { type: 'string', default: String(1024 ** 3) } } });
const bytes = wholeLines(Number(values.bytes));

const found = await callLoudTool(bytes);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
console.log(
  `output, long form: ${bytes} bytes in ${seconds(found.callMs)}, hashing alone ${seconds(found.hashMs)} ` +
    `(${(found.callMs / found.hashMs).toFixed(1)} times), memory grew by ${(found.memoryBytes / 2 ** 20).toFixed(0)} MiB at most`,
);
const faults = faultsOf(found, bytes);
if (faults.length > 0) throw new Error(faults.join('; '));
if (found.memoryBytes > MEMORY_BYTES_MAX) throw new Error(`memory grew by ${found.memoryBytes} bytes`);
