/** Pure code in a journal: how it is made and recorded, and the sandbox that replays it. */
export { bundlePureCode } from './bundle.js';
export { pureCode, type SandboxOptions, sandbox } from './sandbox.js';
