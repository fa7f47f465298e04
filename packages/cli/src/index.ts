/** The `reprise` command, for programs that embed it. */

export type { Sink } from './process/io.js';
export { runCli } from './program.js';
export { runProcess } from './run-process.js';
