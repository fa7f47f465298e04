/** The parts of a foreign service that the tests use; it has no types of its own. */
declare module '@20minutes/s3rver' {
  // biome-ignore lint/style/noDefaultExport: the library has no other export
  export default class S3rver {
    constructor(options: {
      readonly port: number;
      readonly address: string;
      readonly directory: string;
      readonly silent: boolean;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    run(): Promise<{ readonly port: number }>;
    close(): Promise<void>;
  }
}
