// Pending requests to the server.  A newer one supersedes the older, whose responses are ignored.

export type PageState = "loading" | "running" | "ready" | "refused";

export class PendingRequests {
  private last = 0;
  /** Id of the latest run, and of the latest request that a motion answers: a run, or another scenario. */
  private run = 0;
  private motion = 0;
  private hasMotion = true;
  private hasChecks = true;
  private wasRefused = false;

  startRun(): number {
    this.run = this.motion = ++this.last;
    this.hasMotion = this.hasChecks = this.wasRefused = false;
    return this.run;
  }

  /** A run that is answered by a motion alone. */
  startQuickRun(): number {
    const id = this.startRun();
    this.hasChecks = true;
    return id;
  }

  startMotionRequest(): number {
    this.motion = ++this.last;
    this.hasMotion = this.wasRefused = false;
    return this.motion;
  }

  /** Id of the request that can be canceled, if any. */
  get openId(): number | null {
    if (!this.hasMotion) return this.motion;
    return this.hasChecks ? null : this.run;
  }

  acceptMotion(id: number): boolean {
    if (id !== this.motion) return false;
    this.hasMotion = true;
    return true;
  }

  acceptChecks(id: number): boolean {
    if (id !== this.run) return false;
    this.hasChecks = true;
    return true;
  }

  isCurrent(id: number): boolean {
    return id === this.run || id === this.motion;
  }

  /** The request was refused or canceled. */
  acceptEnd(id: number, refused: boolean): boolean {
    if (!this.isCurrent(id)) return false;
    this.hasMotion = this.hasChecks = true;
    this.wasRefused = refused;
    return true;
  }

  get state(): PageState {
    if (this.wasRefused) return "refused";
    return this.openId === null ? "ready" : "running";
  }
}
