/** A bucket for the large content of worlds in a database. */
export type { ObjectStore } from '@reprise/kernel';
export { type S3Credentials, type S3Options, s3 } from '@reprise/objects-s3';
