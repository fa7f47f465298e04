/** Verification of worlds in files, on all cores. */
export { type VerifyFileOptions, verifyFile } from '@reprise/cli/verify';
