/** How far a download is. */
export interface SaveProgress {
  /** Bytes in the file so far. */
  readonly received: number;
  /** Size of the whole recording in bytes, where it is known. */
  readonly total: number | undefined;
}

/** The options of `saveTo`. */
export interface SaveOptions {
  /**
   * Called at the start and after every piece that was written, and waited for when it is
   * asynchronous. What it throws, or rejects with, ends the download.
   */
  readonly onProgress?: ((progress: SaveProgress) => unknown) | undefined;
  /**
   * Keeps what arrived in `<path>.part` when the download fails, continues from there at the next
   * call, and reconnects within the call, up to the limit of `retries`. Default false. One download
   * per path at a time: a second one is refused, of this process or of another. `<path>.part.lock`
   * says whose it is; that of a process that was killed does not count.
   */
  readonly resume?: boolean | undefined;
  /** Ends the download; it rejects with the signal's reason. Default: the signal of the request. */
  readonly signal?: AbortSignal | undefined;
  /** The permissions of the file. Default 0o600: recordings are nobody else's business. */
  readonly mode?: number | undefined;
}

/** What `saveTo` has done. */
export interface SavedRecording {
  readonly path: string;
  /** The size of the file, in bytes. */
  readonly bytes: number;
  /** How many of them were there from an earlier call. */
  readonly resumedFrom: number;
}
