export { type S3Credentials, type S3Options, s3 } from './s3.js';
