/** Pure code in a journal: how it is made, how it is recorded, and where it performs. */
export { type BundleOptions, bundlePureCode } from './bundle.js';
export { type CapsuleOptions, capsule, pureCode } from './capsule.js';
