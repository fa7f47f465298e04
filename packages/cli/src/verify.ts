/** Verification of files on all cores. */
export { type VerifyFileOptions, verifyFile } from './verify/verify-file.js';
