// Requests for things that the server makes to take away; several may be under way, beside the runs.

import type { FromServer, Taken, TakeRequest, ToServer } from "../transport/protocol.ts";

/** Ids of these requests are above those of runs. */
const FIRST_ID = 2 ** 32;

interface Waiting {
  resolve(taken: Taken): void;
  reject(error: Error): void;
}

export class Takes {
  private last = FIRST_ID;
  private readonly waiting = new Map<number, Waiting>();

  constructor(private readonly send: (message: ToServer) => void) {}

  ask(request: TakeRequest): Promise<Taken> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ ...request, id });
    });
  }

  /** Whether a message answers one of these requests. */
  accept(message: FromServer): boolean {
    const waiting = "id" in message ? this.waiting.get(message.id) : undefined;
    if (waiting === undefined || message.type === "progress") return waiting !== undefined;
    this.waiting.delete((message as { id: number }).id);
    if (message.type === "refused") waiting.reject(new Error(message.sentence));
    else waiting.resolve(message as Taken);
    return true;
  }

  /** The connection is lost. */
  fail(sentence: string): void {
    for (const { reject } of this.waiting.values()) reject(new Error(sentence));
    this.waiting.clear();
  }
}
