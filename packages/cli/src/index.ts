/** The `reprise` command, for programs that embed it. */
export { EXIT, type ExitCode } from './exit.js';
export { type Io, type Sink, streamSink } from './io.js';
export { runCli } from './program.js';
export { runProcess } from './run-process.js';
