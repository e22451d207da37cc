// The socket to the server, which comes back by itself when the server does.

import type { FromServer, ToServer } from "./protocol.ts";

export type ConnectionState = "connecting" | "open" | "lost";

export interface Listener {
  message(m: FromServer): void;
  motion(b: ArrayBuffer): void;
  state(s: ConnectionState): void;
}

/** How long to wait before trying again, in ms: longer each time, then always the longest. */
const SHORTEST_WAIT = 300;
const LONGEST_WAIT = 3000;

/** What browsers call "open" of a socket; named here because tests bring sockets of their own. */
const OPEN = 1;

export class Connection {
  private socket: WebSocket | null = null;
  private wait = SHORTEST_WAIT;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private isClosed = false;
  /** What could not be sent yet: the newest run, and the newest look after it.  Older ones are void. */
  private waitingRun: ToServer | null = null;
  private waitingLook: ToServer | null = null;

  constructor(
    private readonly address: string,
    private readonly on: Listener,
  ) {
    this.connect();
  }

  send(m: ToServer): void {
    if (this.socket !== null && this.socket.readyState === OPEN) {
      this.socket.send(JSON.stringify(m));
      return;
    }
    if (m.type === "run") {
      this.waitingRun = m;
      this.waitingLook = null;
    } else if (m.type === "look") {
      this.waitingLook = m;
    } else {
      if (this.waitingRun?.id === m.id) this.waitingRun = null;
      if (this.waitingLook?.id === m.id) this.waitingLook = null;
    }
  }

  close(): void {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.socket?.close();
  }

  private connect(): void {
    this.on.state("connecting");
    let socket: WebSocket;
    try {
      socket = new WebSocket(this.address);
    } catch {
      // A page that may open no sockets at all: trying again is all that can be done, and costs nothing.
      this.tryAgain();
      return;
    }
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = SHORTEST_WAIT;
      this.on.state("open");
      for (const m of [this.waitingRun, this.waitingLook]) if (m !== null) this.send(m);
      this.waitingRun = this.waitingLook = null;
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.on.message(JSON.parse(event.data) as FromServer);
      else this.on.motion(event.data);
    };
    // A failure is always followed by a close.
    socket.onclose = () => {
      if (this.socket === socket) this.tryAgain();
    };
  }

  private tryAgain(): void {
    this.socket = null;
    if (this.isClosed) return;
    this.on.state("lost");
    this.timer = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }
}
