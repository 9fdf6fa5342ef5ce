/* One device's part of a mixture session: its memory, and its functions in all files of cuda/mixture/. */
#pragma once

#include <cstring>

#include "cuda/launch.cuh"
#include "cuda/mixture/kernels.cuh"

namespace wb {

constexpr uint64_t MEGABYTE = 1000000;
constexpr uint64_t STAGE_BYTES = 8 * MEGABYTE;
/* Device memory beside small data (64 leaves of 256 components, 14 columns: 16 MB), and for a chunk of large data. */
constexpr uint64_t SMALL_BYTES = 32 * MEGABYTE, CHUNK_BYTES = 512 * MEGABYTE;
/* Predictions are computed for a multiple of this many rows at a time. */
constexpr int64_t PASS_ROWS = 256;

/* Device memory for rows that travel: while a chunk is computed, the next arrives (cuda/mixture/stream.cu). */
struct mixture_transit {
  bool packed = false;         /* leaves arrive; else columns, which the device makes `leaves` */
  int64_t chunk = 0, step = 1; /* leaves at a time; chunks begin at multiples of `step` */
  int64_t end = 0;             /* the leaf after the last one of a pass */
  device_bytes arriving[2], leaves;
  int64_t first[2] = {-1, -1}; /* the first leaf that has been sent to each; -1: none */
  int last = 1;                /* the buffer of the chunk that was found last */
  int reading = -1;            /* the buffer that the stream may still be given work on; -1: none */

  uint64_t bytes() const { return bytes_of(arriving[0], arriving[1], leaves); }
};

/* Where travelling rows come from: the caller's matrix, by buffers or page-locked; or a page-locked copy in leaves. */
enum class mixture_source { staged, locked, packed };

struct mixture_workspace {
  int32_t components = 0; /* how many there is room for */
  bool weighs = false;
  int64_t chunk = 0; /* leaves drawn at a time */
  int64_t group = 0; /* leaves combined at a time, a power of two */
  device_bytes coefficients;
  mixture_transit x;         /* rows, unless all stay on the device */
  const void *now = nullptr; /* the rows of the chunk that was drawn last */
  device_array<int32_t> labels;
  device_bytes log_sums;
  device_array<double> probability; /* of a weighted pass */
  device_array<double> nodes;       /* of the leaves that are summed at a time, and nodes that wait */
  device_array<double> roots;       /* a node for each piece, if several devices share the rows, or if it weighs */
  /* If labels are kept: the sorted keys of all leaves, and what pairs of components need. */
  device_array<int32_t> keys;
  device_bytes pairs;

  uint64_t bytes() const { return bytes_of(coefficients, x, labels, log_sums, probability, nodes, roots, keys, pairs); }
};

typedef unsigned long long sample_count;
static_assert(sizeof(sample_count) == sizeof(double), "counts lie among doubles");

struct mixture_gaps {
  device_array<int32_t> order, observed, row; /* as in wb_mixture_missing */
  device_array<int64_t> first;
  int32_t components = 0, at_once = 0; /* of the tables, and for how many patterns there is room */
  int32_t built = -1;                  /* the first pattern that has a table; -1: none */
  device_array<double> whole, tables;

  uint64_t bytes() const { return bytes_of(order, observed, row, first, whole, tables); }
};

/* The components: in one piece of device memory, and what travels to and from the host in page-locked memory. */
struct mixture_room {
  int32_t count = 0;
  unsigned blocks = 0; /* that work on components at a time */
  device_array<double> memory;
  pinned_array<double> mail;
  mixture_components at = {};
  /* On the device; `sent_...` and `fetched` are their counterparts on the host. */
  double *law = nullptr, *question = nullptr, *answer = nullptr, *work = nullptr;
  /* samples x components: log weights, as the kernels read them, and counts of rows. */
  double *share = nullptr, *sent_share = nullptr;
  sample_count *counts = nullptr;
  double *sent_law = nullptr, *sent_weight = nullptr, *sent_question = nullptr, *fetched = nullptr;
};

/* Leaves begin..end - 1 of a part, which has `number` pieces before them. `size` is the number of leaves of a node of
 * this level; the last of all nodes may have fewer. */
struct mixture_piece {
  int64_t number, begin, end, size;
};

} // namespace wb

/* One device's part of a session: all rows, or some of its leaves. The first part is the session itself. */
struct wb_mixture_session {
  wb_mixture_data data;               /* of this device's rows; center and inverse_scale are not kept */
  wb_mixture_session *next = nullptr; /* the next device's part, which this one owns */
  int64_t first_row = 0;              /* how many rows the parts before have */
  int64_t number = 0;                 /* of the first row among the whole; see wb_mixture_data */
  int64_t stride;                     /* rows of all parts: from one column of data.x to the next */
  /* The part returns the sums of pieces, which are nodes of the tree. Each has `piece` leaves, a power of two, or, if
   * `merged`, as many as the largest node within the part has; piece = 0: all leaves are one piece. */
  int64_t piece = 0;
  bool merged = false;
  wb::pinned_array<double> mail; /* roots on their way to the host */
  const double *nodes = nullptr; /* where they are on the host, as get_nodes() gives them */
  size_t node_count = 0;         /* how many doubles these are */
  int32_t device;
  bool tensor_cores = false; /* the device has fast ones, and the plugin code for them */
  uint64_t memory_limit;
  wb_run run; /* of the call that opened the session */
  int64_t leaves;
  wb::stream stream;
  wb::stream side;                  /* answers questions about the components while the other stream draws labels */
  wb::event drawn;                  /* the components have been drawn */
  wb::device_array<double> units;   /* centers, then inverse scales */
  wb::device_array<int32_t> sample; /* rows, if they are of several samples */
  wb::device_bytes x;               /* the leaves that stay on the device */
  int64_t kept = 0;                 /* how many these are: all, or the first ones of each span of leaves */
  int64_t spans = 1;
  /* The others travel: see cuda/mixture/stream.cu. */
  wb::stream copies;
  wb::event arrived[2], read[2]; /* a chunk has arrived in a buffer; it has been read there */
  wb::mixture_source source = wb::mixture_source::staged;
  bool unlockable = false;  /* the system refuses to lock the caller's matrix */
  bool held_back = false;   /* rows had to leave the device after the session was opened */
  uint64_t host_memory = 0; /* the most bytes that a copy may take */
  wb::pinned_bytes packed_rows;
  wb::locked_bytes matrix; /* the caller's; the first part holds it for all parts */
  /* Two page-locked buffers, one after the other: one is filled while the other is being copied. */
  int64_t stage = 0; /* leaves of a buffer */
  int turn = 0;
  wb::kept_pinned pinned;
  wb::event copied[2];
  wb::pinned_bytes packed; /* coefficients of a prediction */
  wb::pinned_bytes pairs;  /* as on the device */
  wb::mixture_workspace work;
  wb::mixture_gaps gaps;
  wb::mixture_room room;

  size_t real() const { return data.precision == WB_SINGLE ? sizeof(float) : sizeof(double); }
  /* Bytes of a leaf, raw and scaled. */
  uint64_t raw_leaf() const { return sizeof(double) * WB_LEAF_ROWS * uint64_t(data.columns); }
  uint64_t leaf() const { return real() * WB_LEAF_ROWS * uint64_t(data.columns); }
  bool resident() const { return kept == leaves; }
  uint64_t held() const { return wb::bytes_of(units, sample, x, work, gaps, room.memory); }
  wb::mixture_piece piece_of(int64_t leaf) const;
  int64_t pieces() const { return piece_of(leaves - 1).number + 1; }
  wb::launch_shape grid(int threads, int64_t x, int64_t y = 1) const {
    return wb::grid(threads, x, y).on(stream.get());
  }
  wb::launch_shape cover(int threads, int64_t count, int64_t y = 1) const {
    return wb::cover(threads, count, y).on(stream.get());
  }
  int64_t rows(int64_t first, int64_t count) const {
    return wb::smaller(data.rows, (first + count) * WB_LEAF_ROWS) - first * WB_LEAF_ROWS;
  }
};

namespace wb {

inline int lacks_memory(const wb_mixture_session *s, int32_t components, uint64_t needed, uint64_t left,
                        wb_message *message) {
  return wb_fail(
      message, WB_ERROR_MEMORY,
      "%.2f MB of device memory are needed at least for %d components in %d columns, but %.2f MB can be used",
      double(needed) / 1e6, int(components), int(s->data.columns), double(left) / 1e6);
}

inline int check_components(int32_t components, wb_message *message) {
  if (components <= MIXTURE_MOST_COMPONENTS) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "%d components: a graphics card takes up to %d", int(components),
                 int(MIXTURE_MOST_COMPONENTS));
}

/* Frees working memory and leaves half as many rows on the device. See cuda/mixture/stream.cu. */
int keep_fewer(wb_mixture_session *s, wb_message *message);

template <typename Prepare>
int with_memory(wb_mixture_session *s, wb_message *message, Prepare prepare) {
  for (;;) {
    const int status = prepare();
    if (status != WB_ERROR_MEMORY || s->kept == 0) return status;
    WB_TRY(keep_fewer(s, message));
  }
}

/* After a failure: waits for the work that the call has started, because its memory will be freed. Returns `status`. */
inline int settled(wb_mixture_session *s, int status) {
  if (status != WB_OK) {
    (void)cudaStreamSynchronize(s->stream.get());
    (void)cudaStreamSynchronize(s->side.get());
    (void)cudaStreamSynchronize(s->copies.get());
    (void)cudaGetLastError();
  }
  return status;
}

/* Doubles of a sum over rows: the statistics of all components, the log likelihood. */
inline size_t node_size(const wb_mixture_session *s, int32_t components) {
  return size_t(components) * WB_MIXTURE_STATISTICS(s->data.columns) + 1;
}

/* Calls work(real) on the device of a part, where `real` has the type of the session's precision. */
template <typename Work>
int on_device(wb_mixture_session *s, wb_message *message, Work work) {
  return on_device(s->device, message, [&] { return settled(s, with_precision(s->data.precision, work)); });
}

/* The functions of a part. cuda/mixture/devices.cu calls them chunk by chunk in turns, so that all devices have work:
 * begin_part does not wait, draw_chunk draws labels from leaf `leaf` on, sum_chunk adds up these rows and moves *leaf
 * on, finish_part waits. */

/* session.cu ---------------------------------------------------------------------- */

struct mixture_part {
  int32_t device;
  int64_t first_row, rows, piece;
  bool merged;
};

int open_part(const wb_mixture_data *data, const mixture_part *part, const wb_run *run, wb_mixture_session **session,
              wb_message *message);
template <typename Real>
int begin_part_labels(wb_mixture_session *s, const double *log_weight, wb_message *message);
template <typename Real>
int draw_chunk_labels(wb_mixture_session *s, uint64_t key, uint32_t iteration, int32_t *labels, int64_t leaf,
                      wb_message *message);
template <typename Real>
int sum_chunk_labels(wb_mixture_session *s, int64_t *leaf, wb_message *message);
/* Rows first, ..., first + count - 1 of the part; `stride` is from one column of `probability` to the next. */
template <typename Real>
int evaluate_part(wb_mixture_session *s, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
                  int64_t stride, int32_t *labels, double *log_density, double *probability, wb_message *message);
template <typename Real>
int draw_part_rows(wb_mixture_session *s, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
                   uint64_t key, int64_t number, int32_t *labels, wb_message *message);
/* If `unit_each`, log_unit[i] belongs to row first + i. */
template <typename Real>
int add_part_densities(wb_mixture_session *s, const wb_mixture_parameters *mixtures, int32_t mixture_count,
                       int64_t first, int64_t count, const double *log_unit, bool unit_each, double *log_density,
                       wb_message *message);
/* Waits for rows that are on their way for the next pass. Call it for all parts before closing one. */
void wait_for_copies(wb_mixture_session *s);

/* pairs.cu ------------------------------------------------------------------------ */

/* What a pass over the rows of pairs left on the host. */
typedef unsigned long long pair_word;
struct part_pairs {
  const pair_word *words; /* of each half its least ticket, or of each pair its log probability in units */
  double *sums;           /* pieces x node_size(halves) */
};

/* Bytes that pairs of so many components need, on the device and on the host. */
size_t pair_bytes(const wb_mixture_session *s, int32_t components);
int begin_part_anchors(wb_mixture_session *s, const wb_mixture_pairs *pairs, uint64_t key, uint32_t iteration,
                       wb_message *message);
template <typename Real>
int begin_part_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, const wb_mixture_parameters *halves,
                      const int64_t *anchors, wb_message *message);
template <typename Real>
int draw_chunk_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, int known, uint64_t key, uint32_t iteration,
                      uint32_t step, int64_t leaf, wb_message *message);
template <typename Real>
int sum_chunk_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, int64_t *leaf, wb_message *message);
int finish_part_pairs(wb_mixture_session *s, const wb_mixture_pairs *pairs, const char *what, part_pairs *out,
                      wb_message *message);

/* weigh.cu ------------------------------------------------------------------------ */

/* Only for a part that has all rows of the session. */
template <typename Real>
int weigh_part(wb_mixture_session *s, const wb_mixture_parameters *parameters, double *statistics,
               double *log_likelihood, wb_message *message);

/* components.cu ------------------------------------------------------------------- */

int set_part_components(wb_mixture_session *s, int32_t components, const double *statistics, wb_message *message);
int set_part_statistics(wb_mixture_session *s, int32_t first, int32_t count, const double *statistics,
                        wb_message *message);
int get_part_statistics(wb_mixture_session *s, int32_t first, int32_t count, double *statistics, wb_message *message);
int draw_part_components(wb_mixture_session *s, const wb_mixture_law *law, const int32_t *source, uint64_t key,
                         uint32_t iteration, wb_message *message);
int add_part_precisions(wb_mixture_session *s, const wb_mixture_precisions *sums, wb_message *message);
int measure_part(wb_mixture_session *s, const wb_mixture_measures *measures, wb_message *message);
int finish_part_labels(wb_mixture_session *s, double *sizes, double *log_likelihood, wb_message *message);
int get_part_components(wb_mixture_session *s, double *mean, double *factor, wb_message *message);
/* The sums of all rows: statistics of all components, then the log likelihood; valid until the part is waited for. */
int set_part_sums(wb_mixture_session *s, const double *sums, wb_message *message);
/* Waits for the pass. The rows of each sample and component are added to `sizes`, where there are samples. */
int add_part_sizes(wb_mixture_session *s, double *sizes, wb_message *message);
/* How many entries the table of samples x components has; 0 without samples. */
uint64_t sample_table(const wb_mixture_session *s, int32_t components);
/* Lays the components out in `coefficients` on the device, as `draw` reads them; log weights are the host's. */
template <typename Real>
int send_components(wb_mixture_session *s, const double *log_weight, const mixture_draw_kernel<Real> &draw,
                    Real *coefficients, wb_message *message);
/* Lays components of the host out for kernels that read coefficients one by one. */
template <typename Real>
void pack_coefficients(const wb_mixture_session *s, const wb_mixture_parameters *parameters, int order, Real *packed);
/* The same for `count` mixtures of as many components, to device memory. */
template <typename Real>
int send_coefficients(wb_mixture_session *s, const wb_mixture_parameters *mixtures, int32_t count,
                      const mixture_evaluate_kernel<Real> &kernel, Real *to, wb_message *message);
/* The kernel that evaluates so many components in less time, and its launch; the bytes of a kernel's coefficients. */
template <typename Real>
mixture_evaluate_kernel<Real> find_evaluate(const wb_mixture_session *s, int32_t components);
template <typename Kernel>
launch_shape shape_of(const wb_mixture_session *s, const mixture_kernel<Kernel> &kernel, int64_t rows) {
  return s->grid(kernel.threads, ceiling(rows, kernel.rows)).sharing(kernel.shared_bytes);
}
template <typename Real, typename Kernel>
uint64_t kernel_bytes(const wb_mixture_session *s, const mixture_kernel<Kernel> &kernel, int32_t components) {
  return layout_bytes<Real>(kernel.layout, components, s->data.columns, kernel.order);
}

/* sums.cu ------------------------------------------------------------------------- */

/* How many leaves are computed (chunk) and combined (group) at a time; room for nodes: one or more groups. */
struct leaf_plan {
  int64_t chunk, group, nodes;
};
/* The plan for `left` bytes, where `wish` are enough and a leaf takes `leaf` beside its sums. `nodes`: at most. */
int plan_leaves(const wb_mixture_session *s, int32_t components, int64_t nodes, uint64_t leaf, uint64_t wish,
                uint64_t fixed, uint64_t left, leaf_plan *plan, wb_message *message);
/* The bytes with which plan_leaves() finds room for the largest group of leaves; smaller groups have few blocks. */
uint64_t group_bytes(const wb_mixture_session *s, int32_t components);
/* How many nodes are enough: the blocks that sum them occupy all multiprocessors. */
int64_t nodes_wished(const wb_mixture_session *s, int32_t components);
/* Working memory of a pass by this plan, with room for bytes of coefficients and doubles of roots. */
int open_pass(wb_mixture_session *s, int32_t components, const leaf_plan &plan, uint64_t coefficients, size_t roots,
              bool weighs, mixture_workspace *w, wb_message *message);
/* Doubles of the nodes, and of the groups' nodes that wait for their siblings. */
size_t node_room(const wb_mixture_session *s, int32_t components, const leaf_plan &plan);
/* Adds the sums of a group of leaves to the sums of earlier groups: leaves begin..end - 1 of the part, a group or
 * its beginning, have `count` nodes from `nodes` on. `roots` takes the sums of each piece. */
int combine_group(wb_mixture_session *s, int32_t components, int64_t group, int64_t begin, int64_t end,
                  const double *nodes, int64_t count, double *waiting, double *roots, wb_message *message);
/* Sums the leaves of a chunk, as many as there is room for nodes at a time, and combines them group by group, once the
 * labels of its rows are drawn; these become sorted keys. `roots` takes the sums of each piece. */
template <typename Real>
int sum_leaves(wb_mixture_session *s, const Real *x, int64_t first, int64_t count, int32_t *labels, int32_t components,
               double *roots, wb_message *message);
/* Counts the rows of leaves first..first + count - 1, whose keys are sorted, for each sample and component. */
int count_samples(wb_mixture_session *s, const int32_t *keys, int64_t first, int64_t count, wb_message *message);

/* stream.cu: rows that do not stay on the graphics card --------------------------- */

/* As many leaves to the device as there is room for beside what a sweep needs; the first ones stay there. */
int settle_rows(wb_mixture_session *s, wb_message *message);

int prepare_rows(wb_mixture_session *session, wb_message *message);

/* Bytes of device memory that a chunk takes for each leaf, so that the next chunk can arrive. */
uint64_t transit_leaf(const wb_mixture_session *s);
/* Device memory for passes up to leaf `end` in chunks of at most `chunk`, from multiples of `step` (2^k <= 64). */
int open_transit(wb_mixture_session *s, int64_t chunk, int64_t step, int64_t end, mixture_transit *transit,
                 wb_message *message);

int64_t leaves_at_once(const wb_mixture_session *s, int64_t first, const mixture_transit *transit);

/* *x: the device address of the batch of leaves from `first` on. It is valid for work that the session's stream is
 * given before the next call for the same `transit`. Sends the batch if it is not there, and the next one. */
template <typename Real>
int find_rows(wb_mixture_session *s, int64_t first, mixture_transit *transit, const Real **x, wb_message *message);

/* At the end of a pass: sends what the next one begins with. */
int send_ahead(wb_mixture_session *s, mixture_transit *transit, wb_message *message);

/* missing.cu: rows with missing values -------------------------------------------- */

/* Sends the patterns of the session's data to the device, if values are missing. */
int open_missing(wb_mixture_session *s, wb_message *message);

/* WB_ERROR_MEMORY where values are missing and the rows do not stay on the device, where drawn values are kept. */
int keeps_missing(const wb_mixture_session *s, wb_message *message);

int begin_missing(wb_mixture_session *s, wb_message *message);

/* Draws rows of leaves first..first + count - 1 that lack values, and these. x, labels, log_sums: of the first. */
template <typename Real>
int draw_missing(wb_mixture_session *s, int64_t first, int64_t count, const Real *share, uint64_t key,
                 uint32_t iteration, Real *x, int32_t *labels, Real *log_sums, wb_message *message);

/* Before rows are evaluated under `parameters`. */
int begin_missing_evaluation(wb_mixture_session *s, const wb_mixture_parameters *parameters, wb_message *message);

/* Evaluates those of `rows` rows from `row` on that lack values; x begins with row `start`, outputs with `row`. */
template <typename Real>
int evaluate_missing(wb_mixture_session *s, int64_t start, int64_t row, int64_t rows, const Real *x, int32_t *labels,
                     double *log_sums, double *probability, int64_t stride, wb_message *message);

/* A row with the values that were drawn for it, in scaled units. */
template <typename Real>
int get_part_row(wb_mixture_session *s, int64_t row, double *values, wb_message *message);

} // namespace wb
