/** The progress of a download. */
export interface SaveProgress {
  /** Bytes in the file so far. */
  readonly received: number;
  /** Size of the whole recording in bytes, if it is known. */
  readonly total: number | undefined;
}

/** The options of `saveTo`. */
export interface SaveOptions {
  /**
   * Called at the start and after every piece that was written, and awaited. If it throws or
   * rejects, the download fails with that error.
   */
  readonly onProgress?: ((progress: SaveProgress) => unknown) | undefined;
  /**
   * Keeps what arrived in `<path>.part` if the download fails, continues there with the next call,
   * and reconnects during the call, up to the limit of `retries`. Only one such download per path
   * runs at a time, also across processes: `<path>.part.lock` names its process. The lock of a
   * process that was killed is ignored. Defaults to false.
   */
  readonly resume?: boolean | undefined;
  /** Aborts the download, which rejects with the signal's reason. Defaults to that of the request. */
  readonly signal?: AbortSignal | undefined;
  /** The permissions of the file. Defaults to 0o600: only this user can read it. */
  readonly mode?: number | undefined;
}

/** The result of `saveTo`. */
export interface SavedRecording {
  readonly path: string;
  /** The size of the file, in bytes. */
  readonly bytes: number;
  /** How many of them an earlier call had saved. */
  readonly resumedFrom: number;
}
