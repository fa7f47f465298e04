/** The questions of the page. */
export { Api } from './api.js';
export type { Verify } from './verify.js';
