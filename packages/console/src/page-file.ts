/** One file of the console's page. */
export interface PageFile {
  /** The value of `Content-Type`. */
  readonly type: string;
  readonly text: string;
}
