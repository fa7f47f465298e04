/** What the last owner of a project saw. */
export interface Seen {
  readonly status: string;
  readonly frames: number;
  readonly unverified: number;
  readonly tasks: readonly string[];
  readonly results: readonly { readonly status: string; readonly processed: boolean; readonly session: string }[];
  readonly memories: number;
  readonly narrative: number;
  readonly free: number;
}
