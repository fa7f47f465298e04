/** The questions of the page. */
export { Api } from './api.js';
export { patientStore } from './patient-store.js';
export type { Verify } from './verify.js';
