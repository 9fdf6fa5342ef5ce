# The choice of backend, device, threads and instruction set.

with_environment <- function(values, code) {
  old <- Sys.getenv(names(values), unset = NA, names = TRUE)
  do.call(Sys.setenv, as.list(values))
  on.exit({
    Sys.unsetenv(names(old)[is.na(old)])
    if (!all(is.na(old))) do.call(Sys.setenv, as.list(old[!is.na(old)]))
  })
  force(code)
}

processor <- function(cores = 8L, openmp = TRUE, forked = FALSE, isa = 1L) {
  list(isa = isa, fma = TRUE, cores = cores, openmp = openmp, forked = forked, compiler = "gcc 12.2.0")
}

# Clears the options that the person who runs the tests may have set.
plain <- c(OMP_NUM_THREADS = "", SLURM_CPUS_PER_TASK = "", OMP_THREAD_LIMIT = "", `_R_CHECK_LIMIT_CORES_` = "")

test_that("a run on the CPU has a pointer, threads and an instruction set", {
  run <- warpbayes:::resolve_run("cpu", 2)
  expect_identical(run$backend, "cpu")
  expect_type(run$pointer, "externalptr")
  expect_identical(run$device, 0L)
  expect_lte(run$threads, 2L)
  expect_true(run$isa %in% 0:2)
})

test_that("the backend's name is checked, and the message says where it came from", {
  expect_error(warpbayes:::resolve_run("gpu"),
    '`backend` must be one of "auto", "cpu", "cuda", not "gpu"', fixed = TRUE, class = "warpbayes_error_input"
  )
  expect_error(warpbayes:::resolve_run(1), "`backend` must be one of .* not 1", class = "warpbayes_error_input")
  with_options(list(warpbayes.backend = NA), {
    expect_error(warpbayes:::resolve_run(),
      "`options(warpbayes.backend)` must be one of", fixed = TRUE, class = "warpbayes_error_input"
    )
  })
})

test_that("threads come from the argument, the option, the environment, the cores, in this order", {
  threads <- function(...) warpbayes:::resolve_threads(...)
  with_environment(plain, with_options(list(warpbayes.threads = NULL), {
    expect_identical(threads(NULL, processor()), 8L)
    expect_identical(threads(3, processor()), 3L)
    with_environment(c(OMP_NUM_THREADS = "5,2"), expect_identical(threads(NULL, processor()), 5L))
    with_environment(c(OMP_NUM_THREADS = "nonsense"), expect_identical(threads(NULL, processor()), 8L))
    with_environment(c(OMP_NUM_THREADS = "0"), expect_identical(threads(NULL, processor()), 8L))
    with_environment(c(SLURM_CPUS_PER_TASK = "3"), {
      expect_identical(threads(NULL, processor()), 3L)
      expect_identical(threads(5, processor()), 5L)
      with_environment(c(OMP_NUM_THREADS = "5"), expect_identical(threads(NULL, processor()), 5L))
    })
    with_environment(c(OMP_THREAD_LIMIT = "4"), {
      expect_identical(threads(NULL, processor()), 4L)
      expect_identical(threads(6, processor()), 4L)
    })
    with_options(list(warpbayes.threads = 6), {
      expect_identical(threads(NULL, processor()), 6L)
      with_environment(c(`_R_CHECK_LIMIT_CORES_` = "TRUE"), expect_identical(threads(NULL, processor()), 2L))
      with_environment(c(`_R_CHECK_LIMIT_CORES_` = "false"), expect_identical(threads(NULL, processor()), 6L))
    })
    expect_identical(threads(4, processor(openmp = FALSE)), 1L)
    expect_identical(threads(4, processor(forked = TRUE)), 1L)
  }))
})

test_that("invalid numbers of threads are refused", {
  for (threads in list(0, -1, 1.5, NA, Inf, NaN, "2", c(1, 2), numeric(), TRUE, 5000)) {
    expect_error(warpbayes:::resolve_run("cpu", threads),
      "`threads` must be one whole number from 1 to 4096, not ", fixed = TRUE, class = "warpbayes_error_input"
    )
  }
  with_options(list(warpbayes.threads = "all"), {
    expect_error(warpbayes:::resolve_run("cpu"),
      '`options(warpbayes.threads)` must be one whole number from 1 to 4096, not "all"',
      fixed = TRUE, class = "warpbayes_error_input"
    )
  })
})

test_that("an instruction set can be forced, but not one that the processor lacks", {
  isa <- function(name, processor) with_options(list(warpbayes.isa = name), warpbayes:::resolve_isa(processor))
  expect_identical(isa(NULL, processor(isa = 2L)), 2L)
  expect_identical(isa("baseline", processor(isa = 2L)), 0L)
  expect_identical(isa("avx2", processor(isa = 1L)), 1L)
  expect_identical(isa("baseline", processor(isa = 3L)), 0L)
  expect_identical(isa(NULL, processor(isa = 3L)), 3L)
  expect_error(isa("avx2", processor(isa = 3L)),
    'options(warpbayes.isa) asks for "avx2", but the widest instruction set here is "neon"',
    fixed = TRUE, class = "warpbayes_error_backend"
  )
  expect_error(isa("neon", processor(isa = 2L)), 'asks for "neon"', fixed = TRUE, class = "warpbayes_error_backend")
  expect_error(isa("avx512", processor(isa = 1L)),
    'options(warpbayes.isa) asks for "avx512", but the widest instruction set here is "avx2"',
    fixed = TRUE, class = "warpbayes_error_backend"
  )
  expect_error(isa("sse", processor()),
    '`options(warpbayes.isa)` must be one of "neon", "avx512", "avx2", "baseline", not "sse"',
    fixed = TRUE, class = "warpbayes_error_input"
  )
})

test_that("the device must be an existing index", {
  devices <- data.frame(device = 0:1, name = c("first", "second"))
  device <- function(value) with_options(list(warpbayes.device = value), warpbayes:::resolve_device(devices))
  expect_identical(device(NULL), 0L)
  expect_identical(device(1), 1L)
  expect_error(device(2), "there is no CUDA device 2; this machine has 0 (first), 1 (second)",
    fixed = TRUE, class = "warpbayes_error_backend"
  )
  for (bad in list(-1, 0.5, NA_real_, "0", 0:1)) {
    expect_error(device(bad), "`options(warpbayes.device)` must be the index of a CUDA device, from 0, not ",
      fixed = TRUE, class = "warpbayes_error_input"
    )
  }
})

test_that("a limit of device memory is a number of bytes", {
  with_options(list(warpbayes.device_memory = 1e9),
    expect_identical(warpbayes:::resolve_run("cpu", 1)$memory_limit, 1e9)
  )
  for (bad in list(-1, NA_real_, Inf, "1 GB", c(1, 2))) {
    with_options(list(warpbayes.device_memory = bad), {
      expect_error(warpbayes:::resolve_run("cpu", 1),
        "`options(warpbayes.device_memory)` must be a number of bytes, not ",
        fixed = TRUE, class = "warpbayes_error_input"
      )
    })
  }
})

test_that("backend \"cuda\" without a usable plugin says which step failed", {
  absent <- file.path(tempdir(), "absent.so")
  with_options(list(warpbayes.plugin = absent), {
    expect_error(warpbayes:::resolve_run("cuda"),
      paste0('backend "cuda" is not usable: options(warpbayes.plugin): there is no file ', absent),
      fixed = TRUE, class = "warpbayes_error_backend"
    )
    expect_identical(warpbayes:::resolve_run("auto")$backend, "cpu")
  })

  broken <- tempfile(fileext = ".so")
  writeLines("not a library", broken)
  on.exit(unlink(broken))
  with_options(list(warpbayes.plugin = broken), {
    expect_error(warpbayes:::resolve_run("cuda"),
      'backend "cuda" is not usable: the plugin cannot be opened: .*unable to load shared object',
      class = "warpbayes_error_backend"
    )
  })

  # A library that loads but lacks the plugin's function.
  other <- getLoadedDLLs()[["stats"]][["path"]]
  with_options(list(warpbayes.plugin = other), {
    expect_error(warpbayes:::resolve_run("cuda"),
      "the plugin cannot be opened: .*wb_plugin_backend", class = "warpbayes_error_backend"
    )
  })
  with_options(list(warpbayes.plugin = 1), {
    expect_error(warpbayes:::resolve_run("cuda"), "`options(warpbayes.plugin)` must be the path of one file, not 1",
      fixed = TRUE, class = "warpbayes_error_input"
    )
  })
})

test_that("a plugin of another version or with a failure is refused with the reason", {
  skip_on_cran() # compiles
  skip_on_os("windows")
  plugin <- function(abi_version, size, name, body = "return 0;") {
    folder <- tempfile()
    dir.create(folder)
    source <- file.path(folder, "plugin.c")
    # The head of wb_backend, as in src/backend/backend.h, and room for the rest.
    writeLines(c(
      "#include <stddef.h>", "#include <stdint.h>", "#include <string.h>",
      "typedef struct { uint32_t abi_version, size; const char *name;",
      "  int (*device_count)(int32_t *, char *); void *others[32]; } head;",
      "static int device_count(int32_t *count, char *message) { (void)message; *count = 0;", body, "}",
      sprintf("static const head plugin = {%d, %d, \"%s\", device_count, {0}};", abi_version, size, name),
      "const void *wb_plugin_backend(void) { return &plugin; }"
    ), source)
    suppressWarnings(
      system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", shQuote(source)), stdout = FALSE, stderr = FALSE)
    )
    file.path(folder, "plugin.so")
  }
  cuda <- function(path) with_options(list(warpbayes.plugin = path), warpbayes:::resolve_run("cuda"))
  abi <- .Call(warpbayes:::C_backend_abi)

  path <- plugin(abi[[1L]] + 1L, abi[[2L]], "newer")
  skip_if_not(file.exists(path), "no compiler")
  expect_error(cuda(path),
    sprintf("built for another version of warpbayes (interface %d of %d bytes, this package has %d of %d)",
    abi[[1L]] + 1L, abi[[2L]], abi[[1L]], abi[[2L]]
  ), fixed = TRUE, class = "warpbayes_error_backend")
  expect_error(cuda(plugin(abi[[1L]], abi[[2L]] + 8L, "longer")),
    "built for another version", class = "warpbayes_error_backend"
  )
  expect_error(cuda(plugin(abi[[1L]], abi[[2L]], "none")),
    "the driver finds no CUDA device", class = "warpbayes_error_backend"
  )
  expect_error(cuda(plugin(abi[[1L]], abi[[2L]], "old", 'strcpy(message, "driver too old"); return 4;')),
    'backend "cuda" is not usable: driver too old', fixed = TRUE, class = "warpbayes_error_backend"
  )

  # A plugin whose table has no topic.
  library <- dyn.load(plugin(abi[[1L]], abi[[2L]], "empty"), local = TRUE)
  run <- warpbayes:::resolve_run("cpu", 1)
  symbol <- getNativeSymbolInfo("wb_plugin_backend", library)$address
  run$pointer <- warpbayes:::native(warpbayes:::C_backend_open, symbol)
  expect_error(warpbayes:::native(warpbayes:::C_mixture_open, matrix(1, 2, 1), 0, 1, 0L, FALSE, run),
    'the backend "empty" cannot compute mixtures: choose another backend', fixed = TRUE,
    class = "warpbayes_error_backend"
  )
})

test_that("a child forked after CUDA was used gets an error that says so", {
  state <- warpbayes:::backend_state
  saved <- as.list(state)
  on.exit({
    rm(list = ls(state), envir = state)
    list2env(saved, envir = state)
  })
  with_options(list(warpbayes.plugin = "emulated", warpbayes.device = NULL), {
    list2env(list(
      path = "emulated", pointer = NULL, reason = NULL, pid = -1L, devices = data.frame(device = 0L, name = "emulated")
    ), envir = state)
    for (backend in c("auto", "cuda")) {
      expect_error(warpbayes:::resolve_run(backend),
        "CUDA was used before this process was forked", class = "warpbayes_error_backend"
      )
    }
    expect_identical(warpbayes:::resolve_run("cpu", 1)$backend, "cpu")
  })
})

test_that("a forked child computes with one thread", {
  skip_on_os("windows")
  threads <- parallel::mcparallel(warpbayes:::resolve_run("cpu", 2)$threads)
  expect_identical(parallel::mccollect(threads)[[1L]], 1L)
})

test_that("warp_info() names what is in use and why", {
  absent <- file.path(tempdir(), "absent.so")
  with_options(list(warpbayes.plugin = absent, warpbayes.backend = NULL, warpbayes.isa = NULL), {
    info <- warp_info()
    expect_s3_class(info, "warp_info")
    expect_identical(info$backend, "cpu")
    expect_false(info$cuda$available)
    expect_output(print(info), "warpbayes [0-9.]+, built with ")
    expect_output(print(info), "cuda      not available: options(warpbayes.plugin): there is no file", fixed = TRUE)
    expect_output(print(info), "in use    cpu (no graphics card can be used)", fixed = TRUE)
  })
  with_options(list(warpbayes.backend = "cpu", warpbayes.isa = "baseline"), {
    info <- warp_info()
    expect_identical(info$isa, "baseline")
    expect_output(print(info), "in use    cpu (asked for by options(warpbayes.backend))", fixed = TRUE)
  })
})

test_that("warp_info() prints all its parts", {
  info <- structure(list(
    version = "0.1.0", compiler = "gcc 12.2.0", openmp = TRUE, isa = "avx2", isa_widest = "avx512", fma = FALSE,
    threads = 1L, cores = 4L, backend = "cuda", why = "a graphics card is there",
    cuda = list(available = TRUE, reason = NULL, plugin = "p.so", devices = data.frame(
      device = 0:1, name = c("NVIDIA A", "NVIDIA B"), memory = c(24e9, 8e9), memory_free = c(23.5e9, 7.1e9),
      major = c(8L, 7L), minor = c(9L, 5L), driver = 13000L, runtime = 12080L
    ))
  ), class = c("warp_info", "warpbayes"))
  out <- capture.output(print(info))
  expect_identical(out, c(
    "warpbayes 0.1.0, built with gcc 12.2.0",
    "cpu       avx2 vectors (the processor has avx512), 1 thread of 4 cores",
    "          this processor has no fused multiply-add instruction: it is emulated, about a hundred times slower",
    "cuda      device 0: NVIDIA A, 24.0 GB (23.5 free), compute capability 8.9, driver for CUDA 13.0, runtime 12.8",
    "          device 1: NVIDIA B, 8.0 GB (7.1 free), compute capability 7.5, driver for CUDA 13.0, runtime 12.8",
    "in use    cuda (a graphics card is there)"
  ))
  info$openmp <- FALSE
  expect_output(print(info), "built with gcc 12.2.0 without OpenMP: one thread", fixed = TRUE)
})

test_that("an installation without the plugin says what configure said", {
  folder <- scratch(folder = TRUE)
  path <- file.path(folder, "warpbayes_cuda.so")
  with_options(list(warpbayes.plugin = NULL), {
    expect_identical(warpbayes:::plugin_absent(path), "this installation has no CUDA plugin")
    writeLines("no nvcc in $PATH", file.path(folder, "outcome.txt"))
    expect_identical(warpbayes:::plugin_absent(path), "the CUDA plugin was not built at installation: no nvcc in $PATH")
  })
})

test_that("CUDA refuses a child forked after its first use, in R and in the plugin", {
  skip_on_os("windows")
  run <- warpbayes:::resolve_run(threads = 1)
  skip_if_not(run$backend == "cuda", "no CUDA backend in use")
  child <- function(code) parallel::mccollect(parallel::mcparallel(tryCatch(code, error = identity)))[[1L]]

  error <- child(warpbayes:::resolve_run("cuda"))
  expect_s3_class(error, "warpbayes_error_backend")
  expect_match(conditionMessage(error), "CUDA was used before this process was forked")

  error <- child(warpbayes:::native(warpbayes:::C_backend_devices, run$pointer))
  expect_s3_class(error, "warpbayes_error_backend")
  expect_match(conditionMessage(error), "does not work in the child")

  expect_identical(child(warpbayes:::resolve_run("cpu", 1)$backend), "cpu")
})

test_that("a container's quota of processor time limits the default number of threads", {
  root <- tempfile()
  on.exit(unlink(root, recursive = TRUE))
  put <- function(path, text) {
    dir.create(dirname(file.path(root, path)), recursive = TRUE, showWarnings = FALSE)
    writeLines(text, file.path(root, path))
  }
  cores <- function(...) warpbayes:::container_cores(root, c(...))
  expect_identical(cores(), Inf)
  put("cpu.max", "max 100000")
  expect_identical(cores("0::/"), Inf)
  put("a/b/cpu.max", "250000 100000")
  expect_identical(cores("0::/"), Inf)
  expect_identical(cores("0::/a/b/c"), 2.5)
  put("a/cpu.max", "50000 100000")
  expect_identical(cores("0::/a/b/c"), 0.5)
  put("cpu/cpu.cfs_quota_us", "-1")
  put("cpu/cpu.cfs_period_us", "100000")
  expect_identical(cores("0::/", "4:cpu,cpuacct:/d"), Inf)
  put("cpu/d/cpu.cfs_quota_us", "300000")
  put("cpu/d/cpu.cfs_period_us", "100000")
  expect_identical(cores("0::/", "4:cpu,cpuacct:/d"), 3)
  with_environment(plain, {
    expect_identical(warpbayes:::default_threads(8L, 2.5), 2)
    expect_identical(warpbayes:::default_threads(8L, 0.5), 1)
    expect_identical(warpbayes:::default_threads(2L, Inf), 2)
  })
})

test_that("fewer threads run while other programs keep the cores busy", {
  skip_where_repeated()
  skip_on_os(c("windows", "mac", "solaris"))
  cores <- warp_info()$cores
  skip_if(cores < 2 || cores > 16)
  old <- Sys.getenv("WARPBAYES_FIXED_THREADS", NA)
  on.exit(if (!is.na(old)) Sys.setenv(WARPBAYES_FIXED_THREADS = old))
  # The fewest threads of several looks. A busy machine may suspend this process for a second; the next look then takes
  # all cores for idle.
  fewest <- function() {
    min(vapply(1:15, function(i) {
      Sys.sleep(0.12)
      .Call(C_backend_idle_threads, cores)
    }, 0L))
  }
  Sys.setenv(WARPBAYES_FIXED_THREADS = "yes")
  busy <- vapply(seq_len(cores), function(i) {
    system2("sh", c("-c", shQuote("while :; do :; done > /dev/null 2>&1 & echo $!")), stdout = TRUE)
  }, "")
  on.exit(tools::pskill(as.integer(busy)), add = TRUE)
  expect_identical(fewest(), cores)
  Sys.unsetenv("WARPBAYES_FIXED_THREADS")
  expect_lt(fewest(), cores)
})

test_that("the processor keeps nothing that could be released", {
  expect_null(.Call(C_backend_release, resolve_run("cpu")))
})
