/** The files of the page, as text. The HTML names the other two as `/page.js` and `/page.css`. */
export interface PageFiles {
  readonly html: string;
  readonly script: string;
  readonly style: string;
}
