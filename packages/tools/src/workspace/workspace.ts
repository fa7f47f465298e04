import type { ApprovalRule, Tool } from '@reprise/agent';
import { aFlag, aList, isFilled, type KnownOptions, requireArgument, requireKnownOptions } from '@reprise/contracts';
import { editFile } from './edit/edit-file.js';
import { writeFile } from './edit/write-file.js';
import { glob } from './find/glob.js';
import { grep } from './find/grep.js';
import { listFiles } from './find/list-files.js';
import { readFile } from './find/read-file.js';
import { Confinement } from './folder/confine.js';
import type { WorkspaceContext } from './folder/context.js';
import { IGNORED_NAMES } from './folder/names.js';

/** The folder of the tools, and what they may do in it. */
export interface WorkspaceOptions {
  /** The folder. Nothing outside it can be read or written. It is first accessed when a tool is called. */
  readonly root: string;
  /** Leaves out `write_file` and `edit_file`. Default false. */
  readonly readOnly?: boolean;
  /**
   * Name patterns (`*` for any text) of folders that listings and searches do not enter. Default {@link IGNORED_NAMES}.
   */
  readonly ignore?: readonly string[];
  /** Which writes need approval. Default `never`: the earlier content is stored. */
  readonly approval?: ApprovalRule<{ readonly path: string }>;
}

const WORKSPACE_OPTIONS: KnownOptions<WorkspaceOptions> = {
  root: true,
  readOnly: aFlag,
  ignore: aList,
  approval: true,
};

/**
 * Makes tools for one real folder: `list_files`, `read_file`, `grep`, `glob` and, unless it is read-only, `write_file`
 * and `edit_file`, which store the earlier content and record the change in their receipts.
 *
 * Paths are relative to the folder; `..`, absolute paths and symbolic links that lead out are refused, and so are
 * files that usually hold secrets. A refusal is text for the model, not an error of the run.
 *
 * @example
 * const agent = defineAgent({ …, tools: workspace({ root: './notes', readOnly: true }) })
 */
export function workspace(options: WorkspaceOptions): Tool[] {
  requireKnownOptions(options, WORKSPACE_OPTIONS, 'workspace', "Write workspace({ root: './notes' }).");
  requireArgument(isFilled(options.root), 'workspace(options.root)', 'the path of a folder', options.root);
  const context: WorkspaceContext = {
    confinement: new Confinement(options.root),
    ignore: options.ignore ?? IGNORED_NAMES,
    approval: options.approval ?? 'never',
  };
  const readers = [listFiles(context), readFile(context), grep(context), glob(context)];
  return options.readOnly === true ? readers : [...readers, writeFile(context), editFile(context)];
}
