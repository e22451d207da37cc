// What is in the picture of one frame: the body, its arrows and paths, and what stands round it.

import {
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh,
  MeshBasicMaterial,
  Scene,
  SphereGeometry,
  Vector3,
  type PerspectiveCamera,
  type Raycaster,
} from "three";
import { readable } from "../colors.ts";
import { plus, scaled, toWorld } from "../motion/vectors.ts";
import type { Options } from "../options.ts";
import { Arrow, pixelAt } from "./arrows.ts";
import { Body, shellOf, type Shell } from "./body.ts";
import { Cloud } from "./omega-cloud.ts";
import { Crowd, tonesOf } from "./instances.ts";
import { Ghost } from "./closed-form.ts";
import { Ground } from "./ground.ts";
import type { Size, Wish } from "./labels.ts";
import { patterned } from "./pattern.ts";
import { Pivot } from "./pivot.ts";
import { Poinsot } from "./poinsot.ts";
import { quantitiesOf, type Quantity } from "./quantities.ts";
import { hasSpring, Spring } from "./spring.ts";
import { standIn, type Frame, type Instant, type Stand, type Subject } from "./context.ts";
import { Trails } from "./trails.ts";

const DOT_PIXELS = 4;
/** A body that reaches fewer pixels than this has no room for labels at all its arrows. */
const SMALL = 26;

export class World {
  readonly scene = new Scene();
  readonly ground: Ground | null = null;
  readonly crowd: Crowd | null = null;
  private readonly shell: Shell;
  private readonly body: Body;
  private readonly ghost: Ghost;
  private readonly trails: Trails;
  private readonly poinsot: Poinsot;
  private readonly pivot: Pivot | null;
  private readonly cloud: Cloud | null;
  private readonly spring: Spring | null;
  private readonly arrows: { quantity: Quantity; arrow: Arrow }[];
  private readonly point: Mesh<SphereGeometry, MeshBasicMaterial>;
  private readonly key = new DirectionalLight("#fffaf2", 2.1);

  constructor(private readonly subject: Subject, private readonly frame: Frame) {
    const { record, watched, colours, effects } = subject;
    const look = record.looks[record.lookOf[watched]];
    this.shell = shellOf(look);
    this.body = new Body(this.shell, patterned(look, tonesOf(subject), effects), "#2a2a33");
    this.ghost = new Ghost(subject, frame, this.shell);
    this.trails = new Trails(subject, frame);
    this.poinsot = new Poinsot(subject, frame);
    this.arrows = quantitiesOf(record, watched, colours).map((quantity) => ({
      quantity,
      arrow: new Arrow(quantity.colour, quantity.boldness),
    }));
    this.pivot = record.isHeld ? new Pivot(subject, frame) : null;
    this.point = new Mesh(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ color: colours.ink }));
    const parts = new Group().add(this.body, this.ghost.body, this.trails, this.poinsot, this.point);
    this.scene.add(parts, ...this.arrows.map(({ arrow }) => arrow), ...this.ghost.axes, this.key, this.key.target);
    this.scene.add(new HemisphereLight("#ffffff", "#b4b2bc", 1.75));
    this.cloud = frame === "body" && record.axis === "member" ? new Cloud(subject) : null;
    this.spring = frame === "space" && hasSpring(record) ? new Spring(subject) : null;
    for (const part of [this.pivot, this.cloud, this.spring]) if (part) this.scene.add(part);
    if (frame === "space") {
      this.scene.add((this.ground = new Ground(subject)), (this.crowd = new Crowd(subject)));
      if (effects === "high") this.castShadows();
    }
  }

  update(options: Options, instant: Instant, isFollowing: boolean, radius: number): Stand {
    const stand = standIn(this.frame, this.subject, instant);
    this.body.put(stand.place, stand.turn, instant.size);
    this.body.visible &&= instant.isThere;
    this.ghost.update(options.ghost, instant);
    this.poinsot.update(options.poinsot, instant, stand);
    this.trails.visible = instant.isThere;
    if (instant.isThere) this.trails.update(options, instant, stand);
    const drawn = instant.larger / this.subject.framing.unit;
    for (const { quantity, arrow } of this.arrows) {
      const isOn = instant.isThere && options[quantity.isShown];
      const own = this.frame === "body" && quantity.inBody ? quantity.inBody(instant.pose) : null;
      const vector = own ?? stand.along(quantity.at(instant.pose, instant.t));
      const from = quantity.from ? plus(stand.place, toWorld(stand.turn, scaled(drawn, quantity.from))) : stand.anchor;
      arrow.point(from, isOn ? scaled(instant.reach, vector) : [0, 0, 0]);
    }
    const point = scaled(1 / this.subject.framing.unit, options.point); // true, as its path is, where bodies are drawn larger
    this.point.visible = options.trailPoint && instant.isThere;
    if (this.point.visible) this.point.position.set(...plus(stand.place, toWorld(stand.turn, point)));
    this.crowd?.update(instant);
    this.spring?.update(instant);
    this.cloud?.update(options.omega, instant, stand);
    const ground = this.ground?.update(instant, isFollowing, radius) ?? null;
    this.pivot?.update(instant, stand, ground);
    return stand;
  }

  /** Sizes on the screen, and light from behind the camera's left shoulder. */
  fit(camera: PerspectiveCamera, width: number, height: number, radius: number): void {
    for (const arrow of [...this.arrows.map(({ arrow }) => arrow), ...this.ghost.axes]) arrow.fit(camera, height);
    this.trails.setPixels(width, height);
    this.spring?.setPixels(width, height);
    this.poinsot.fit(camera, width, height);
    this.point.scale.setScalar(DOT_PIXELS * pixelAt(camera, this.point.position, height));
    const side = new Vector3().setFromMatrixColumn(camera.matrixWorld, 0);
    const back = new Vector3().setFromMatrixColumn(camera.matrixWorld, 2).setZ(0).normalize();
    this.key.position.set(0, 0, 1.5 * radius).addScaledVector(side, -0.75 * radius).addScaledVector(back, 0.7 * radius);
    if (this.key.castShadow) this.reachOfShadow(radius);
  }

  /** A label for each arrow and curve that is seen, the most telling first; of a body that is small, only its name. */
  wishes(camera: PerspectiveCamera, pane: Size, instant: Instant): Wish[] {
    const onScreen = (place: Vector3): [number, number] => {
      const { x, y } = place.clone().project(camera);
      return [((x + 1) * pane.width) / 2, ((1 - y) * pane.height) / 2];
    };
    const wish = (text: string, colour: string, at: Vector3, from: Vector3): Wish => {
      const [[x, y], [fromX, fromY]] = [onScreen(at), onScreen(from)];
      return { text, colour: readable(colour, colours), x, y, fromX, fromY };
    };
    const { record, watched, colours } = this.subject;
    const isSmall = instant.reach / pixelAt(camera, this.body.position, pane.height) < SMALL;
    if (isSmall && record.axis === "member") {
      const { position } = this.body;
      const above = new Vector3(0, 0, 1.8 * instant.reach).add(position);
      return instant.isThere ? [wish(`member ${record.members[watched]}`, colours.ink, above, position)] : [];
    }
    const [x, y] = onScreen(this.body.position);
    const curves = this.poinsot.names(camera).map(({ text, colour, at, from }) => ({ ...wish(text, colour, at, from), away: { x, y } }));
    const arrows = this.arrows.filter(({ arrow, quantity }) => arrow.visible && !(isSmall && quantity.isFixed));
    return arrows
      .sort((a, b) => Number(a.quantity.isFixed) - Number(b.quantity.isFixed))
      .map(({ quantity, arrow }) => wish(quantity.label, quantity.colour, arrow.tip(new Vector3()), arrow.position))
      .concat(curves);
  }

  /** The body that a ray meets first; null if none, or the watched one. */
  under(ray: Raycaster): number | null {
    const other = this.crowd?.under(ray) ?? null;
    const own = this.body.visible ? ray.intersectObject(this.body.mesh)[0] : undefined;
    return other && !(own && own.distance < other.distance) ? other.body : null;
  }

  dispose(): void {
    this.shell.faces.dispose();
    this.shell.edges?.dispose();
    const { body, ghost, trails, poinsot, pivot, cloud, spring, ground, crowd, key } = this;
    for (const part of [body, ghost, trails, poinsot, pivot, cloud, spring, ground, crowd, key]) part?.dispose();
    for (const { arrow } of this.arrows) arrow.dispose();
    this.point.geometry.dispose();
    this.point.material.dispose();
  }

  private castShadows(): void {
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(2048, 2048);
    this.key.shadow.radius = 3;
    this.key.shadow.normalBias = 0.02;
    this.body.mesh.castShadow = true;
    this.body.mesh.receiveShadow = true;
    this.crowd?.children.forEach((mesh) => (mesh.castShadow = true));
  }

  private reachOfShadow(radius: number): void {
    const { camera } = this.key.shadow;
    camera.left = camera.bottom = -1.3 * radius;
    camera.right = camera.top = 1.3 * radius;
    camera.near = 0.05 * radius;
    camera.far = 6 * radius;
    camera.updateProjectionMatrix();
  }
}
