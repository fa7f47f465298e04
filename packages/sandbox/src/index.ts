/** Pure code in a journal: how it is made, how it is recorded, and where it replays. */
export { type BundleOptions, bundlePureCode } from './bundle.js';
export { pureCode, type SandboxOptions, sandbox } from './sandbox.js';
