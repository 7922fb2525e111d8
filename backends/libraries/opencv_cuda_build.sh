#!/usr/bin/env bash
# Builds OpenCV with its CUDA functions, which no wheel has, into one file: cv2.abi3.so, for every Python 3. It has what
# the backend opencv_cuda calls, for one architecture, and needs no GPU. It takes up to an hour on two cores.
#
#   backends/libraries/opencv_cuda_build.sh [FOLDER [ARCHITECTURE]]
#
# FOLDER (default: opencv-cuda) gets the file; with it in PYTHONPATH, cv2 is this OpenCV. ARCHITECTURE is the device's
# compute capability (default: 9.0). The file finds NPP in FOLDER/build, or by LD_LIBRARY_PATH. Needed: Python's
# headers, a C++ compiler, cmake, ninja, and CUDA 13's nvcc on PATH.
# Its functions for the CPU are slower than the wheel's, as Intel's IPP is not in it: measure opencv with the wheel.
set -euo pipefail
folder=$(realpath -m "${1:-opencv-cuda}")
architecture=${2:-9.0}
version=4.14.0.94
for tool in python3 c++ cmake ninja nvcc; do
  command -v "$tool" > /dev/null || { echo "$tool is missing: install it, and put it on PATH" >&2; exit 1; }
done
# nvcc on PATH may be a link or a script that calls the toolkit's: it tells itself where it lies.
toolkit=$(nvcc --dryrun -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')
[ -f "$toolkit/include/cuda_runtime.h" ] || { echo "nvcc has no toolkit with headers beside it: install CUDA 13's" >&2; exit 1; }
toolkit=$(realpath "$toolkit")

work=$folder/build
mkdir -p "$work"
cd "$work"
[ -d venv ] || python3 -m venv venv
# A source distribution tells its name by its setup.py, which imports the last three.
venv/bin/pip install --quiet 'nvidia-npp==13.0.*' numpy 'setuptools<70' scikit-build packaging
if [ ! -d "opencv_contrib_python-$version" ]; then
  venv/bin/pip download --quiet --no-deps --no-build-isolation --no-binary opencv-contrib-python -d . \
    "opencv-contrib-python==$version"
  tar xzf "opencv_contrib_python-$version.tar.gz"
fi

# OpenCV looks for NPP inside the toolkit, where the toolkit may not have it: links to both make one.
npp=$(venv/bin/python -c 'import nvidia.cu13; print(list(nvidia.cu13.__path__)[0])')
rm -rf toolkit
mkdir -p toolkit/include toolkit/lib64
ln -s "$toolkit/bin" "$toolkit/nvvm" toolkit/
ln -s "$toolkit"/include/* toolkit/include/
ln -sf "$npp"/include/npp* toolkit/include/
ln -s "$toolkit"/lib64/* toolkit/lib64/
for library in "$npp"/lib/libnpp*.so.*; do
  name=$(basename "$library")
  ln -sf "$library" "toolkit/lib64/$name"
  ln -sf "$library" "toolkit/lib64/${name%%.so*}.so"
done
ln -s lib64 toolkit/lib

off=()
for option in CUBLAS CUFFT CUDNN NVCUVID NVCUVENC IPP ITT FFMPEG GSTREAMER GTK V4L EIGEN LAPACK PROTOBUF ADE FLATBUFFERS \
  QUIRC OPENJPEG JASPER TIFF WEBP OPENEXR JPEG PNG VA; do
  off+=("-DWITH_$option=OFF")
done
python=$(realpath -s venv/bin/python)
cmake -G Ninja -S "opencv_contrib_python-$version/opencv" -B cmake -DCMAKE_BUILD_TYPE=Release \
  -DOPENCV_EXTRA_MODULES_PATH="$work/opencv_contrib_python-$version/opencv_contrib/modules" \
  -DBUILD_LIST=core,imgproc,cudev,cudaarithm,cudafilters,cudaimgproc,python3 -DBUILD_SHARED_LIBS=OFF -DBUILD_ZLIB=ON \
  -DBUILD_TESTS=OFF -DBUILD_PERF_TESTS=OFF -DBUILD_opencv_apps=OFF -DBUILD_JAVA=OFF "${off[@]}" \
  -DWITH_CUDA=ON -DCUDA_TOOLKIT_ROOT_DIR="$work/toolkit" -DCUDA_ARCH_BIN="$architecture" -DCUDA_ARCH_PTX= \
  -DBUILD_opencv_python3=ON -DPYTHON3_LIMITED_API=ON -DPYTHON3_EXECUTABLE="$python" -DPYTHON_DEFAULT_EXECUTABLE="$python" \
  -DPYTHON3_INCLUDE_DIR="$(venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("include"))')" \
  -DPYTHON3_LIBRARY=none -DOPENCV_SKIP_PYTHON_LOADER=ON > cmake.log
# Where OpenCV cannot use the toolkit it goes on without, and its functions for CUDA would be missing without a word.
grep -q 'NVIDIA CUDA: *YES' cmake.log || { echo "OpenCV does not use $toolkit: see $work/cmake.log" >&2; exit 1; }
ninja -C cmake opencv_python3
strip --strip-unneeded -o "$folder/cv2.abi3.so" cmake/lib/python3/cv2.abi3.so
echo "$folder/cv2.abi3.so: put $folder into PYTHONPATH"
