/** The files of the page while it is not bundled: a page that says so. */
import type { PageFiles } from '../contract/index.js';

/** Makes the files of the page. */
export async function pageFiles(): Promise<PageFiles> {
  return { html: '<!doctype html><title>Reprise</title><p>The page is not bundled.</p>', script: '', style: '' };
}
