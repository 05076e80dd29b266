/** Lets so many in at once; the others wait in line. */
export class InLine {
  readonly #places: number;
  readonly #line: (() => boolean)[] = [];
  #inside = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /**
   * Runs `go` when there is a place: at once if there is one now.
   * @param go `true`: it holds the place until `leave`; `false`: it does not need it
   */
  enter(go: () => boolean): void {
    if (this.#inside >= this.#places) this.#line.push(go);
    else if (go()) this.#inside++;
  }

  leave(): void {
    this.#inside--;
    while (this.#inside < this.#places) {
      const next = this.#line.shift();
      if (!next) return;
      if (next()) this.#inside++;
    }
  }
}
