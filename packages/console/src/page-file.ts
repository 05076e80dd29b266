/**
 * One file of the console's page. The map of all has them by their paths below the mount: `index.html`,
 * which is served at the mount itself, and `assets/<name>-<hash>.<ext>`, which browsers keep for a year.
 * `index.html` names the others relative to itself (`./assets/…`), and has a `<head>` without
 * attributes: where the URL of the mount does not end with a slash, a `<base>` is put into it.
 */
export interface PageFile {
  /** The value of `Content-Type`. */
  readonly type: string;
  readonly text: string;
}
