/** Frames by number, and pages of long answers. */
export { frameOf } from './frames.js';
export { pageOf } from './page.js';
