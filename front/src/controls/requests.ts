// Which questions to the server are open.  A newer one makes the older void: its answers are not looked at.

export type PageState = "loading" | "running" | "ready" | "refused";

export class Asking {
  private last = 0;
  /** The newest run of a model, and the newest question that a motion answers: a run, or a look at another scenario. */
  private run = 0;
  private motion = 0;
  private hasMotion = true;
  private hasNumbers = true;
  private wasRefused = false;

  startRun(): number {
    this.run = this.motion = ++this.last;
    this.hasMotion = this.hasNumbers = this.wasRefused = false;
    return this.run;
  }

  startLook(): number {
    this.motion = ++this.last;
    this.hasMotion = this.wasRefused = false;
    return this.motion;
  }

  /** The question that a person may call off. */
  get open(): number | null {
    if (!this.hasMotion) return this.motion;
    return this.hasNumbers ? null : this.run;
  }

  takesMotion(id: number): boolean {
    if (id !== this.motion) return false;
    this.hasMotion = true;
    return true;
  }

  takesNumbers(id: number): boolean {
    if (id !== this.run) return false;
    this.hasNumbers = true;
    return true;
  }

  concerns(id: number): boolean {
    return id === this.run || id === this.motion;
  }

  /** The server will not, or was told not to. */
  takesEnd(id: number, refused: boolean): boolean {
    if (!this.concerns(id)) return false;
    this.hasMotion = this.hasNumbers = true;
    this.wasRefused = refused;
    return true;
  }

  get state(): PageState {
    if (this.wasRefused) return "refused";
    return this.open === null ? "ready" : "running";
  }
}
